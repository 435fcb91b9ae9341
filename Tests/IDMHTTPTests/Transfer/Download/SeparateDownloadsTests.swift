import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Downloads beside others", .fewAtOnce, .timeLimit(.ample))
struct SeparateDownloadsTests {
    @Test("Objects that differ in their query alone are never put together, whatever their tags are")
    func query() async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        var download = place.download("/download")
        download.request.query = ["id": 5]
        await #expect(throws: HTTPError.self) { try await place.request(download) }
        let other = filling(10_000, seed: 2)
        place.server.change {
            $0.breaksAfter = nil
            $0.bytes = other
        }
        download.request.query = ["id": 6]
        _ = try await place.request(download)
        #expect(place.isWhole("map.bin", other) && place.server.ranges == [nil, nil])
    }

    @Test("Objects that differ in their query alone come into one folder at the same time")
    func folder() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 5_000, signal) }
        func download(_ id: Int) -> ServiceDownload {
            ServiceDownload(
                ServiceRequest(.get, "/download", query: ["id": .init(id)]), to: .folder(place.folder.url),
                existing: .number)
        }
        async let first = place.request(download(5))
        try await place.server.log.contains("5000")
        place.server.change { $0.holds = nil }
        #expect(try await place.request(download(6)).url.lastPathComponent == "download")
        signal.open()
        #expect(try await first.url.lastPathComponent == "download (2)")
        #expect(place.names == ["download", "download (2)"])
    }

    @Test(
        "What signs an address doesn't tell objects apart, and everything else does",
        arguments: [
            ("X-Amz-Signature=a&X-Amz-Date=b&id=1", "id=1"), ("b=2&a=1", "a=1&b=2"), ("sv=1&se=2&sig=3&sr=b", ""),
            ("se=2&sr=b", "se=2&sr=b"), ("Expires=1&Signature=2&Key-Pair-Id=3&Policy=4", ""), ("", ""),
            ("access_token=1&page=2", "page=2"), ("%53ignature=1&x", "x"), ("key=europe", "key=europe"),
        ])
    func signed(query: String, rest: String) {
        #expect(SignedQuery(query).unsigned == rest)
    }

    @Test("A file that is done is never written to again, although the part's name was left to it")
    func secondName() async throws {
        let place = try Downloading { $0.tag = nil }
        var download = place.download()
        download.existing = .number
        place.files.before(.link) { place.files.fail(each: .remove, EACCES) }
        _ = try await place.request(download)
        #expect(place.names.contains("map.bin.part"))
        place.files.fail(nil)
        let other = filling(7_000, seed: 2)
        place.server.change { $0.bytes = other }
        _ = try await place.request(download)
        #expect(try Data(contentsOf: place.file) == place.bytes)
        let second = place.folder.url.appendingPathComponent("map (2).bin")
        #expect(try Data(contentsOf: second) == other && place.names == ["map (2).bin", "map.bin"])
    }

    @Test("What somebody has put into the part's place isn't taken for the download, and stays")
    func exchanged() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 5_000, signal) }
        var download = place.download()
        download.sha256 = SHA256.hex(of: place.bytes)
        async let error = place.error(download)
        try await place.server.log.contains("5000")
        place.files.before(.permit) {
            let other = place.folder.url.appendingPathComponent("other")
            try? Data("mine".utf8).write(to: other)
            _ = rename(other.path, place.part.path)
        }
        signal.open()
        #expect(await error == .partLost("map.bin.part"))
        #expect(try String(contentsOf: place.part, encoding: .utf8) == "mine" && place.files.openFiles == 0)
        #expect(!place.names.contains("map.bin"))
    }

    @Test("Of a download that finds its place taken at last, nobody else may read the part")
    func taken() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 5_000, signal) }
        async let error = place.error()
        try await place.server.log.contains("5000")
        _ = try place.folder.file("map.bin", "mine")
        signal.open()
        #expect(await error == .destinationExists("map.bin"))
        let mode = try FileManager.default.attributesOfItem(atPath: place.part.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test(
        "A secret of the path is in no name",
        arguments: [("token", "secret3"), ("url", "https://app/cb?token=secret3"), ("url", "https://ada:secret3@app")])
    func secretName(name: String, value: String) async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        let download = ServiceDownload(
            ServiceRequest(.get, "/files/{\(name)}", pathParameters: [name: value]), to: .folder(place.folder.url))
        await #expect(throws: HTTPError.self) { try await place.request(download) }
        #expect(place.names.count == 2 && !place.names.contains { $0.contains("secret3") })
        place.server.change { $0.breaksAfter = nil }
        _ = try await place.request(download)
        #expect(place.isWhole("download"))
    }

    @Test("What is known of a part that has gone is discarded with it")
    func orphan() async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        await #expect(throws: HTTPError.self) { try await place.request() }
        try FileManager.default.removeItem(at: place.part)
        try await place.provider.discard(place.download())
        #expect(place.names.isEmpty && place.files.openFiles == 0)
    }

    @Test("A part that is about to lose its name is its download's until it has")
    func betweenItsNames() async throws {
        let place = try Downloading { $0.tag = nil }
        let other = DownloadProvider(try HTTPService(place.server))
        var map = place.download()
        map.existing = .number
        let (error, ended) = (Observed<TransferError?>(nil), DispatchSemaphore(value: 0))
        place.files.before(.link) { [map, files = place.files] in
            files.before(.remove) { [map] in
                Task {
                    do { _ = try await other.request(map) } catch let other {
                        error.change { $0 = other as? TransferError }
                    }
                    ended.signal()
                }
                ended.wait()
            }
        }
        _ = try await place.request(map)
        #expect(error.value == .inUse("map.bin.part") && place.isWhole())
    }

    @Test(
        "What is known of a part goes as its download ends, and never that of another one which begins there by then",
        arguments: [FileFault.Call.status, .read, .open, .remove])
    func beginsAsItsPlaceIsLeft(call: FileFault.Call) async throws {
        let place = try Downloading()
        let other = ObjectTransport(filling(7_000, seed: 2)) { $0.breaksAfter = 4_000 }
        let provider = DownloadProvider(try HTTPService(other))
        var map = place.download("/maps/asia")
        map.existing = .number
        let ended = DispatchSemaphore(value: 0)
        // Once the part has lost its name.
        place.files.before(.link) { [map, files = place.files] in
            files.before(.remove) {
                files.before(call) {
                    Task {
                        _ = try? await provider.request(map)
                        ended.signal()
                    }
                    ended.wait()
                }
            }
        }
        _ = try await place.request()
        other.change { $0.breaksAfter = nil }
        _ = try await provider.request(map)
        #expect(try Data(contentsOf: place.file) == place.bytes)
        let second = place.folder.url.appendingPathComponent("map (2).bin")
        #expect(try Data(contentsOf: second) == other.bytes && place.names == ["map (2).bin", "map.bin"])
    }

    @Test("A part is gone on with as it is once nobody else has it, whatever it was before")
    func writtenAsItIsTaken() async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        await #expect(throws: HTTPError.self) { try await place.request() }
        place.server.change { $0.breaksAfter = nil }
        // Another mirror has another state of it, of which more has come by then.
        let other = ObjectTransport(filling(10_000, seed: 2)) { ($0.tag, $0.breaksAfter) = ("\"v2\"", 5_000) }
        let provider = DownloadProvider(try HTTPService(other))
        let (map, ended) = (place.download(), DispatchSemaphore(value: 0))
        place.files.before(.lock) {
            Task {
                _ = try? await provider.request(map)
                ended.signal()
            }
            ended.wait()
        }
        _ = try await place.request(map)
        #expect(place.isWhole() && other.sentBytes == 5_000)
        #expect(place.server.asked.last?.headers["If-Range"] == "\"v2\"")
    }

    @Test("Many that begin and end in one place at once leave whole files, and nothing else", arguments: [true, false])
    func crowd(isNumbered: Bool) async throws {
        for round in 0..<Volume.of(100, normally: 10) {
            let folder = try TemporaryFolder()
            let file = folder.url.appendingPathComponent("map.bin")
            let servers = (0..<4).map { number in
                ObjectTransport(filling(3_000, seed: UInt64(number + 1))) {
                    if (round + number).isMultiple(of: 3) { $0.breaksAfter = 2_000 }
                    if (round + number).isMultiple(of: 4) { $0.tag = nil }
                }
            }
            @Sendable func download(_ number: Int) -> ServiceDownload {
                ServiceDownload(
                    ServiceRequest(.get, "/maps/\(number)"), to: .file(file), existing: isNumbered ? .number : .replace)
            }
            let found = await withTaskGroup { group in
                for number in 0..<16 {
                    group.addTask { () -> String? in
                        do {
                            let service = try HTTPService(servers[number % 4])
                            _ = try await DownloadProvider(service).request(download(number % 4))
                            return nil
                        } catch is HTTPError {
                            return nil
                        } catch TransferError.inUse {
                            return nil
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found.compactMap(\.self) == [])
            for (number, server) in servers.enumerated() {
                server.change { $0.breaksAfter = nil }
                let result = try await DownloadProvider(try HTTPService(server)).request(download(number))
                #expect(try Data(contentsOf: result.url) == server.bytes)
            }
            #expect(try folder.names().allSatisfy { !$0.contains(".part") })
        }
    }
}
