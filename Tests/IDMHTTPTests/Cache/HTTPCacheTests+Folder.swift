import Foundation
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

extension HTTPCacheTests {
    @Test("the folder contains no secrets, follows no links and keeps foreign files")
    func folder() async throws {
        let (folder, outside) = (try TemporaryFolder(), try TemporaryFolder())
        let fields: ServiceHeaders = ["Cache-Control": "max-age=60"]
        let transport = ScriptedTransport { request in
            .text(
                "s3cret",
                headers: request.url.lastPathComponent == "cookie" ? fields.merging(["Set-Cookie": "a=1"]) : fields)
        }
        var service = try HTTPService(transport)
        let cache = cache(folder: folder.url)
        service.configuration.cache = cache
        let secret = [
            ServiceRequest(.get, "/a", headers: ["Authorization": "s3cret"]),
            ServiceRequest(.get, "/b", query: ["token": "s3cret"]),
            ServiceRequest(.get, "/{pin}", pathParameters: ["pin": "s3cret"]), ServiceRequest(.get, "/cookie"),
        ]
        for request in secret { _ = try await service.request(request) }
        await cache.folder?.settle()
        #expect(try folder.names().isEmpty && cache.bytesInMemory > 0)

        let address = "https://h/v1/open"
        let name = SHA256.hex(of: address.utf8) + ".response"
        let victim = try outside.file("victim", "victim")
        for name in [name, name + ".new"] {
            try FileManager.default.createSymbolicLink(
                at: folder.url.appendingPathComponent(name), withDestinationURL: victim)
        }
        _ = try folder.file("mine.txt", "mine")
        _ = try await service.request(ServiceRequest(.get, "/open"))
        await cache.folder?.settle()
        let file = folder.url.appendingPathComponent(name)
        #expect(
            try FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType == .typeRegular)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        try await cache.removeAll()
        #expect(try folder.names() == ["mine.txt"] && String(contentsOf: victim, encoding: .utf8) == "victim")
    }

    @Test("a damaged, truncated or foreign file isn't used")
    func damagedFiles() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport(headers: ["Cache-Control": "max-age=60"], "body")
        func service() throws -> HTTPService {
            var service = try HTTPService(transport)
            service.configuration.cache = cache(folder: folder.url)
            return service
        }
        let first = try service()
        _ = try await first.request(ServiceRequest(.get, "/a"))
        await first.configuration.cache?.folder?.settle()
        let name = try #require(try folder.names().first)
        let file = folder.url.appendingPathComponent(name)
        let whole = try Data(contentsOf: file)
        var flipped = whole
        flipped[whole.count - 1] ^= 1
        for bytes in [flipped, whole.dropLast(), Data(), whole + [0]] {
            try bytes.write(to: file)
            let next = try service()
            _ = try await next.request(ServiceRequest(.get, "/a"))
            await next.configuration.cache?.folder?.settle()
        }
        try whole.write(to: folder.url.appendingPathComponent(SHA256.hex(of: "https://h/v1/b".utf8) + ".response"))
        _ = try await service().request(ServiceRequest(.get, "/b"))
        #expect(transport.asked.count == 6)
        try whole.write(to: file)
        _ = try await service().request(ServiceRequest(.get, "/a"))
        #expect(transport.asked.count == 6)
    }
}
