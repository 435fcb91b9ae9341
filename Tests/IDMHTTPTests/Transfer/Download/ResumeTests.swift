import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Downloads that go on", .fewAtOnce, .timeLimit(.ample))
struct ResumeTests {
    /// A download that broke off after so many bytes.
    func broken(
        after count: Int = 4_000, _ change: (inout ObjectTransport.Script) -> Void = { _ in }
    ) async throws -> Downloading {
        let place = try Downloading {
            $0.breaksAfter = count
            change(&$0)
        }
        await #expect(throws: HTTPError.self) { try await place.request() }
        place.server.change { $0.breaksAfter = nil }
        #expect(place.files.openFiles == 0)
        return place
    }

    @Test("What broke off goes on where it stopped, and no byte comes twice", arguments: [1, 999, 1_000, 4_321, 9_999])
    func resumed(count: Int) async throws {
        let place = try await broken(after: count)
        #expect(place.names == ["map.bin.part", "map.bin.part.info"] && place.partLength == count)
        _ = try await place.request()
        #expect(place.isWhole() && place.server.sentBytes == 10_000)
        #expect(place.server.ranges == [nil, count > 1 ? "bytes=\(count)-" : "bytes=1-"])
        #expect(place.server.asked[1].headers["If-Range"] == "\"v1\"")
    }

    @Test("It goes on again and again, with its digest right at the end")
    func often() async throws {
        let place = try Downloading { $0.breaksAfter = 900 }
        var download = place.download()
        download.sha256 = SHA256.hex(of: place.bytes)
        for _ in 0..<11 { await #expect(throws: HTTPError.self) { try await place.request(download) } }
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.sentBytes == 10_000)
    }

    @Test("A part of which everything is there asks for its last byte alone", arguments: [true, false])
    func complete(tellsLength: Bool) async throws {
        let place = try await broken(after: 10_000) { $0.tellsLength = tellsLength }
        #expect(place.partLength == 10_000)
        _ = try await place.request()
        #expect(place.isWhole() && place.server.sentBytes == 10_001 && place.server.ranges[1] == "bytes=9999-")
    }

    @Test("A server that doesn't know ranges sends the whole anew, and so it is")
    func ignored() async throws {
        let place = try await broken { $0.knowsRanges = false }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.sentBytes == 14_000 && place.server.asked.count == 2)
    }

    @Test("An object that has changed, to a shorter one as well, comes anew as a whole", arguments: [10_000, 3_000, 0])
    func changed(count: Int) async throws {
        let place = try await broken()
        let other = filling(count, seed: 2)
        place.server.change {
            $0.bytes = other
            $0.tag = "\"v2\""
        }
        _ = try await place.request()
        #expect(place.isWhole("map.bin", other))
    }

    @Test(
        "A part that is another than the one asked for is refused, and the whole is asked for",
        arguments: [
            "bytes 0-9999/10000", "bytes 4001-9999/10000", "bytes 3999-9999/10000", "bytes 4000-9999/20000",
            "bytes 4000-9999/9000", "bytes */10000", "4000-9999/10000", "", "bytes 4000-10000/10000",
        ])
    func wrongRange(range: String) async throws {
        let place = try await broken { $0.range = range }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-", nil])
    }

    @Test("A part of which nobody says how much comes behind it isn't taken for the end")
    func unknownEnd() async throws {
        let place = try await broken {
            $0.tellsLength = false
            $0.most = 1_001
            $0.range = "bytes 3999-4999/*"
        }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=3999-", nil])
    }

    @Test(
        "A part under another tag, or none, is refused, even if the server took the old one", arguments: [true, false])
    func wrongTag(isTold: Bool) async throws {
        let place = try await broken()
        let other = filling(10_000, seed: 2)
        struct Careless: HTTPTransport {
            let server: ObjectTransport
            let isTold: Bool
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                var request = request
                request.headers.remove("If-Range")
                var response = try await server.send(request)
                if !isTold { response.headers.remove("ETag") }
                return response
            }
        }
        place.server.change {
            $0.bytes = other
            $0.tag = "\"v2\""
        }
        _ = try await DownloadProvider(
            try HTTPService(Careless(server: place.server, isTold: isTold)), files: place.files
        )
        .request(place.download())
        #expect(place.isWhole("map.bin", other))
    }

    @Test("A server that has no such part any more, or no rule for it, is asked for the whole", arguments: [416, 206])
    func refusedRange(status: Int) async throws {
        let place = try await broken()
        struct Strict: HTTPTransport {
            let server: ObjectTransport
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                if request.headers["Range"] != nil { return .text("", status: 416) }
                return try await server.send(request)
            }
        }
        var service = try HTTPService(status == 416 ? Strict(server: place.server) as any HTTPTransport : place.server)
        if status == 206 { service.rules = [.status(in: 200...200)] }
        _ = try await DownloadProvider(service, files: place.files).request(place.download())
        #expect(place.isWhole())
    }

    @Test("Without a strong validator nothing is kept, and nothing is gone on with", arguments: ["W/\"v1\"", nil])
    func weak(tag: String?) async throws {
        let place = try await broken { $0.tag = tag }
        #expect(place.names.isEmpty)
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, nil])
    }

    @Test("A date serves where there is no tag, if it is a strong one")
    func date() async throws {
        let modified = "Tue, 15 Nov 1994 12:45:26 GMT"
        let place = try await broken {
            $0.tag = nil
            $0.headers = ["Last-Modified": modified, "Date": "Tue, 15 Nov 1994 13:45:26 GMT"]
        }
        await #expect(throws: Never.self) { try await place.request() }
        #expect(place.server.asked[1].headers["If-Range"] == modified && place.isWhole())
    }

    @Test("An address that is signed anew is the same object, and no signature is on the disk")
    func signed() async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        var download = place.download()
        download.request.query = ["X-Amz-Signature": "secret1", "part": 1]
        await #expect(throws: HTTPError.self) { try await place.request(download) }
        let known = String(decoding: try Data(contentsOf: place.sidecar), as: UTF8.self)
        #expect(known.contains("https://h/v1/maps/europe") && !known.contains("secret1"))
        place.server.change { $0.breaksAfter = nil }
        download.request.query = ["X-Amz-Signature": "secret2", "part": 1]
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.sentBytes == 10_000)
    }

    @Test("A secret in a path isn't on the disk either")
    func secretPath() async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        var download = place.download("/files/{token}")
        download.request.pathParameters = ["token": "secret3"]
        await #expect(throws: HTTPError.self) { try await place.request(download) }
        #expect(try !String(contentsOf: place.sidecar, encoding: .utf8).contains("secret3"))
        place.server.change { $0.breaksAfter = nil }
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.sentBytes == 10_000)
    }

    @Test("Another address is another object, unless it is called by the same name")
    func named() async throws {
        for name in [nil, "map"] {
            let place = try Downloading { $0.breaksAfter = 4_000 }
            var download = place.download("/mirror1/europe")
            download.object = name
            await #expect(throws: HTTPError.self) { try await place.request(download) }
            place.server.change { $0.breaksAfter = nil }
            download.request = ServiceRequest(.get, "/mirror2/europe")
            _ = try await place.request(download)
            #expect(place.isWhole() && place.server.sentBytes == (name == nil ? 14_000 : 10_000))
        }
    }

    @Test("What another download has left in this place stays until there is something to write in its stead")
    func anothers() async throws {
        let place = try await broken()
        let other = place.download("/maps/asia")
        place.server.change { $0.status = 404 }
        await #expect(throws: HTTPError.self) { try await place.request(other) }
        #expect(place.partLength == 4_000 && place.files.openFiles == 0)
        try await place.provider.discard(other)
        #expect(place.partLength == 4_000 && place.files.openFiles == 0)
        place.server.change { $0.status = nil }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.sentBytes == 10_000)
    }

    @Test("What was written last is told, though the download broke off right behind it")
    func told() async throws {
        let place = try Downloading { $0.breaksAfter = 4_321 }
        let told = Mutex<Int64>(0)
        let task = try Integrator(place.provider).prepareCall(place.download())
            .onProgress { progress in told.withLock { $0 = progress.completed ?? 0 } }.call()
        _ = try? await task.value
        #expect(told.withLock { $0 } == 4_321)
    }

    @Test("A server that sends less than was asked for is asked for the rest")
    func pieces() async throws {
        let place = try await broken { $0.most = 2_500 }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-", "bytes=6500-", "bytes=9000-"])
    }

    @Test("a server that sends ten bytes a range is given up after some answers")
    func crumbs() async throws {
        let place = try await broken { $0.most = 10 }

        let error = await place.error()

        #expect(error == .incomplete(received: 4_160, of: 10_000))
        #expect(place.server.asked.count == 17 && place.partLength == 4_160)
    }

    @Test("the rest from another origin isn't joined to a part, though its tag is the same text")
    func redirectedRest() async throws {
        let place = try await broken()
        let mirror = ObjectTransport(filling(10_000, seed: 2))
        let service = try HTTPService(
            ScriptedTransport { request in
                if request.url.host() == "mirror.example.com" { return try await mirror.send(request) }
                return .text("", status: 302, headers: ["Location": "https://mirror.example.com/europe"])
            })

        _ = try await DownloadProvider(service, files: place.files).request(place.download())

        #expect(place.isWhole("map.bin", mirror.bytes))
    }

    @Test("The name that the server has suggested holds, also if it says nothing when the download goes on")
    func suggested() async throws {
        let place = try Downloading {
            $0.breaksAfter = 4_000
            $0.headers["Content-Disposition"] = "attachment; filename=world.bin"
        }
        await #expect(throws: HTTPError.self) { try await place.request(place.intoFolder) }
        place.server.change {
            $0.breaksAfter = nil
            $0.headers = [:]
        }
        _ = try await place.request(place.intoFolder)
        #expect(place.isWhole("world.bin") && place.server.sentBytes == 10_000)
    }

    @Test("Whatever is wrong with what is there, the file is right in the end")
    func damage() async throws {
        let ways: [(String, (Downloading) throws -> Void)] = [
            ("flipped", { try $0.flip() }),
            ("cut", { try Data(contentsOf: $0.sidecar).dropLast(9).write(to: $0.sidecar) }),
            ("empty", { try Data().write(to: $0.sidecar) }),
            (
                "newer",
                { place in
                    let text = try String(contentsOf: place.sidecar, encoding: .utf8)
                    try text.replacing("idm-part 1", with: "idm-part 2").write(
                        to: place.sidecar, atomically: false, encoding: .utf8)
                }
            ),
            (
                "folder",
                { place in
                    try FileManager.default.removeItem(at: place.sidecar)
                    try FileManager.default.createSymbolicLink(at: place.sidecar, withDestinationURL: place.part)
                }
            ),
            ("longer", { try (Data(contentsOf: $0.part) + Data(count: 9_000)).write(to: $0.part) }),
            (
                "another",
                { place in
                    // Both are there for a moment, so that the other one is told from it. This user's alone, as a copy.
                    let other = try place.folder.file("other", Data(count: 4_000))
                    #expect(chmod(other.path, 0o600) == 0)
                    #expect(rename(other.path, place.part.path) == 0)
                }
            ),
            ("no part", { try FileManager.default.removeItem(at: $0.part) }),
        ]
        for (name, way) in ways {
            let place = try await broken()
            try way(place)
            _ = try await place.request()
            #expect(place.isWhole(), "\(name)")
            #expect(place.server.ranges == [nil, nil], "\(name)")
        }
    }

    @Test("A part that was cut short goes on from there")
    func shorter() async throws {
        let place = try await broken()
        let handle = try FileHandle(forWritingTo: place.part)
        try handle.truncate(atOffset: 1_234)
        try handle.close()
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=1234-"])
    }

    @Test("A link in the place of the part is never followed")
    func link() async throws {
        let place = try Downloading()
        let other = try place.folder.file("other", "mine")
        try FileManager.default.createSymbolicLink(at: place.part, withDestinationURL: other)
        #expect(await place.error() == .notAFile("map.bin.part"))
        #expect(try String(contentsOf: other, encoding: .utf8) == "mine")
        try FileManager.default.removeItem(at: place.part)
        #expect(mkfifo(place.part.path, 0o600) == 0)
        #expect(await place.error() == .notAFile("map.bin.part"))
    }

    @Test("After the end of the system only what was surely on the disk counts")
    func anotherSession() async throws {
        let place = try await broken()
        let text = try String(contentsOf: place.sidecar, encoding: .utf8)
        #expect(text.contains("\"synchronized\":4000"))
        // Bytes that came later, of which the system may have lost some.
        let handle = try FileHandle(forWritingTo: place.part)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(count: 500))
        try handle.close()
        let provider = DownloadProvider(try HTTPService(place.server), files: FaultyFiles(session: "later"))
        _ = try await provider.request(place.download())
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-"])
    }

    @Test("Another size than the one that is expected now begins anew")
    func expectedSize() async throws {
        let place = try await broken()
        var download = place.download()
        download.size = 12_000
        let other = filling(12_000, seed: 3)
        place.server.change {
            $0.bytes = other
            $0.tag = "\"v2\""
        }
        _ = try await place.request(download)
        #expect(place.isWhole("map.bin", other) && place.server.ranges == [nil, nil])
    }
}

extension Downloading {
    /// Changes one bit of the sidecar.
    fileprivate func flip() throws {
        var bytes = try Data(contentsOf: sidecar)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: sidecar)
    }

    private final class Heard: ProgressListener {
        let log = Log()
        func hear(_ progress: IntegrationProgress) { log.add("\(progress.completed ?? -1)/\(progress.total ?? -1)") }
    }

    @Test("The body of an answer that is refused is none of the file's", arguments: [416, 503])
    func refusedBody(status: Int) async throws {
        let place = try Downloading { $0.breaksAfter = 3_000 }
        await #expect(throws: HTTPError.self) { try await place.request() }
        place.server.change { $0.breaksAfter = nil }
        let isRefused = Observed(false)
        let server = ScriptedTransport { [server = place.server] request in
            guard
                isRefused.change({ isRefused in
                    defer { isRefused = true }; return isRefused
                })
            else {
                return .text(
                    String(repeating: "e", count: 50_000), status: status, headers: ["Content-Length": "50000"])
            }
            return try await server.send(request)
        }
        let service = try HTTPService(server, interceptors: [RetryInterceptor(1, delay: .constant(.zero))])
        let heard = Heard()
        _ = try await IntegrationProgress.Reporter(heard).ambient {
            try await DownloadProvider(service, files: place.files).request(place.download())
        }
        #expect(place.isWhole() && heard.log.entries.last == "10000/10000")
        #expect(heard.log.entries.allSatisfy { !$0.contains("50000") }, "\(heard.log.entries)")
    }

    @Test("One of an unknown length that ended between its names is done", arguments: [true, false])
    func endedBetweenItsNames(hasTag: Bool) async throws {
        let place = try Downloading {
            $0.tellsLength = false
            if !hasTag { $0.tag = nil }
        }
        place.files.before(.link) { [files = place.files] in files.fail(each: .remove) }
        _ = try await place.request()
        #expect(place.names.contains("map.bin.part"))
        place.files.fail(nil)
        if hasTag {
            #expect(try await place.request().size == 10_000)
            #expect(place.server.asked.count == 1)
        } else {
            // Nobody knows what it was, but that it is no part.
            #expect(await place.error() == .destinationExists("map.bin"))
        }
        #expect(place.isWhole())
    }
}
