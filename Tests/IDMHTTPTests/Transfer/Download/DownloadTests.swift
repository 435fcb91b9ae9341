import Foundation
import IDMCore
import IDMFiles
import TestSupport
import Testing

@testable import IDMHTTP

/// A place for downloads, and a server.
struct Downloading: Sendable {
    let folder: TemporaryFolder
    let server: ObjectTransport
    let files: FaultyFiles
    let bytes: Data

    init(_ count: Int = 10_000, _ change: (inout ObjectTransport.Script) -> Void = { _ in }) throws {
        bytes = filling(count)
        folder = try TemporaryFolder()
        server = ObjectTransport(bytes, change)
        files = FaultyFiles()
    }

    var provider: DownloadProvider {
        get throws { DownloadProvider(try HTTPService(server), files: files) }
    }

    var file: URL { folder.url.appendingPathComponent("map.bin") }
    var part: URL { folder.url.appendingPathComponent("map.bin.part") }
    var sidecar: URL { folder.url.appendingPathComponent("map.bin.part.info") }
    var names: [String] { (try? folder.names()) ?? [] }
    var partLength: Int? { try? Data(contentsOf: part).count }

    func download(_ path: String = "/maps/europe") -> ServiceDownload {
        ServiceDownload(ServiceRequest(.get, path), to: .file(file))
    }

    var intoFolder: ServiceDownload {
        ServiceDownload(ServiceRequest(.get, "/maps/europe.bin"), to: .folder(folder.url))
    }

    func request(_ download: ServiceDownload? = nil) async throws -> DownloadedFile {
        try await provider.request(download ?? self.download())
    }

    func error(_ download: ServiceDownload? = nil) async -> TransferError? {
        do {
            _ = try await request(download)
            return nil
        } catch {
            return error as? TransferError
        }
    }

    /// Nothing but the file, and in it what the server had.
    func isWhole(_ name: String = "map.bin", _ bytes: Data? = nil) -> Bool {
        names == [name] && (try? Data(contentsOf: folder.url.appendingPathComponent(name))) == bytes ?? self.bytes
            && files.openFiles == 0
    }
}

@Suite("Downloads", .fewAtOnce, .timeLimit(.ample))
struct DownloadTests {
    @Test("What has come is on the disk, however long nothing more comes")
    func stalled() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 3_500, signal) }
        let request = Task { try await place.request() }
        // Asked for when what was before it has been written.
        try await place.server.log.contains("3500")
        #expect(place.partLength == 3_500)
        signal.open()
        _ = try await request.value
        #expect(place.isWhole())
    }

    @Test("A file comes whole into its place, with nothing beside it", arguments: [0, 1, 999, 1_000, 10_000, 600_000])
    func whole(count: Int) async throws {
        for tellsLength in [true, false] {
            let place = try Downloading(count) { $0.tellsLength = tellsLength }
            let file = try await place.request()
            #expect(file == DownloadedFile(url: place.file, size: Int64(count)) && place.isWhole())
            #expect(place.server.ranges == [nil] && place.server.asked[0].headers["Accept-Encoding"] == "identity")
        }
    }

    @Test("More than was expected isn't fetched, also where nobody says how much there is", arguments: [true, false])
    func tooLong(tellsLength: Bool) async throws {
        let place = try Downloading { $0.tellsLength = tellsLength }
        var download = place.download()
        download.size = 2_500
        #expect(await place.error(download) == .size(expected: 2_500, found: tellsLength ? 10_000 : 3_000))
        #expect(place.server.sentBytes <= 3_000 && place.names.isEmpty)
    }

    @Test("Until it is done nobody else may read it, and then whoever may read new files")
    func permissions() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 5_000, signal) }
        async let file = place.request()
        try await place.server.log.contains("5000")
        let mode = try FileManager.default.attributesOfItem(atPath: place.part.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        signal.open()
        _ = try await file
        let done = try FileManager.default.attributesOfItem(atPath: place.file.path)[.posixPermissions] as? Int
        let other = place.folder.url.appendingPathComponent("other").path
        close(open(other, O_CREAT | O_WRONLY, 0o666))
        let fresh = try FileManager.default.attributesOfItem(atPath: other)[.posixPermissions] as? Int
        #expect(done == fresh)
    }

    @Test(
        "In a folder it gets the name that the server suggests, made safe, or else that of its address",
        arguments: [
            (nil, "europe.bin"), ("attachment; filename=map.bin", "map.bin"), (#"attachment; filename="../../x""#, "x"),
            (#"attachment; filename="/etc/passwd""#, "passwd"), ("attachment; filename*=UTF-8''a%00b", "ab"),
            ("attachment; filename=..", "europe.bin"), ("attachment; filename*=UTF-8''..%2f..%2fx", "x"),
        ])
    func names(header: String?, name: String) async throws {
        let place = try Downloading { $0.headers["Content-Disposition"] = header }
        let file = try await place.request(place.intoFolder)
        #expect(file.url == place.folder.url.appendingPathComponent(name) && place.isWhole(name))
    }

    @Test("A file in its way refuses the download, and nothing is asked for")
    func refused() async throws {
        let place = try Downloading()
        _ = try place.folder.file("map.bin", "mine")
        #expect(await place.error() == .destinationExists("map.bin"))
        #expect(place.server.asked.isEmpty && place.isWhole("map.bin", Data("mine".utf8)))
    }

    @Test("A file that comes into its way meanwhile is never replaced")
    func lateRefusal() async throws {
        for destination in [ServiceDownload.Destination.Kind.file, .folder] {
            let place = try Downloading { $0.headers["Content-Disposition"] = "attachment; filename=map.bin" }
            place.files.before(.link) { try? Data("mine".utf8).write(to: place.file) }
            let download = destination == .file ? place.download() : place.intoFolder
            #expect(await place.error(download) == .destinationExists("map.bin"))
            #expect(try String(contentsOf: place.file, encoding: .utf8) == "mine")
            // What has come isn't lost by that.
            try FileManager.default.removeItem(at: place.file)
            _ = try await place.request(download)
            #expect(place.isWhole() && place.server.sentBytes == 10_001)
        }
    }

    @Test("A file in its way is replaced in one step, or the download gets the next number")
    func replaced() async throws {
        let place = try Downloading()
        _ = try place.folder.file("map.bin", "old")
        var download = place.download()
        download.existing = .replace
        place.files.before(.rename) { #expect((try? Data(contentsOf: place.file)) == Data("old".utf8)) }
        _ = try await place.request(download)
        #expect(place.isWhole())
        download.existing = .number
        #expect(try await place.request(download).url.lastPathComponent == "map (2).bin")
        #expect(try await place.request(download).url.lastPathComponent == "map (3).bin")
        #expect(place.names == ["map (2).bin", "map (3).bin", "map.bin"])
    }

    @Test("A folder in its way is never replaced")
    func folderInTheWay() async throws {
        let place = try Downloading()
        try FileManager.default.createDirectory(at: place.file, withIntermediateDirectories: false)
        for existing in [ServiceDownload.ExistingFile.refuse, .replace] {
            var download = place.download()
            download.existing = existing
            #expect(await place.error(download) == .destinationIsFolder("map.bin"))
        }
        var download = place.download()
        download.existing = .number
        #expect(try await place.request(download).url.lastPathComponent == "map (2).bin")
        var named = place.intoFolder
        place.server.change { $0.headers["Content-Disposition"] = "attachment; filename=map.bin" }
        named.existing = .replace
        #expect(await place.error(named) == .destinationIsFolder("map.bin"))
    }

    @Test("What can't be a destination is refused with a word on what it is")
    func destinations() async throws {
        let place = try Downloading()
        var download = place.download()
        download.destination = .file(try #require(URL(string: "https://h/x")))
        #expect(await place.error(download) == .notAFile("x"))
        download.destination = .file(URL(fileURLWithPath: "/"))
        #expect(await place.error(download) == .notAFile("/"))
        download.destination = .file(place.folder.url.appendingPathComponent("gone/map.bin"))
        #expect(await place.error(download) == .folderMissing("map.bin.part"))
        let long = String(repeating: "m", count: 256)
        download.destination = .file(place.folder.url.appendingPathComponent(long))
        #expect(await place.error(download) == .notAFile(long.escapedForDescription()))
        download = place.download()
        download.sha256 = "abc"
        #expect(await place.error(download) == .notADigest("abc"))
        #expect(place.server.asked.isEmpty && place.names.isEmpty)
    }

    @Test(
        "A name and a folder are what a slash divides, whatever is joined to it",
        arguments: [("a.b", "\u{301}x"), ("a.b\u{d4e}", "x"), ("\u{301}a.b", "x")])
    func joinedToSlash(folder: String, name: String) async throws {
        let place = try Downloading()
        let path = "\(place.folder.url.path)/\(folder)"
        var download = place.download()
        download.destination = .file(URL(fileURLWithPath: "\(path)/\(name)"))
        download.existing = .number
        #expect(await place.error(download) == .folderMissing("\(name).part"))
        #expect(mkdir(path, 0o700) == 0)
        for _ in 0..<2 { _ = try await place.request(download) }
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        #expect(names == [name, "\(name) (2)"] && place.names == [folder])
        download.destination = .file(URL(fileURLWithPath: "/\u{301}gone/x"))
        #expect(await place.error(download) == .folderMissing("x.part"))
    }

    @Test("A name as long as a file system takes has a part as well")
    func longName() async throws {
        let place = try Downloading()
        var download = place.download()
        let name = String(repeating: "n", count: 251) + ".bin"
        download.destination = .file(place.folder.url.appendingPathComponent(name))
        _ = try await place.request(download)
        #expect(place.isWhole(name))
    }

    @Test("A size that isn't the expected one fails: before anything comes if it is announced, or else at the end")
    func size() async throws {
        let place = try Downloading()
        var download = place.download()
        download.size = 9_999
        #expect(await place.error(download) == .size(expected: 9_999, found: 10_000))
        #expect(place.server.sentBytes == 0 && place.names.isEmpty)
        place.server.change { $0.tellsLength = false }
        #expect(await place.error(download) == .size(expected: 9_999, found: 10_000))
        #expect(place.names.isEmpty && place.files.openFiles == 0)
        download.size = 10_000
        _ = try await place.request(download)
        #expect(place.isWhole())
    }

    @Test("A body that is longer or shorter than it was announced is no file")
    func lengths() async throws {
        let long = try Downloading { $0.extra = Data("x".utf8) }
        #expect(await long.error() == .size(expected: 10_000, found: 10_001))
        #expect(long.names.isEmpty)
        let short = try Downloading { $0.endsAfter = 4_000 }
        #expect(await short.error() == .incomplete(received: 4_000, of: 10_000))
        #expect(short.partLength == 4_000)
        short.server.change { $0.endsAfter = nil }
        _ = try await short.request()
        #expect(short.isWhole() && short.server.sentBytes == 10_000)
    }

    @Test("a part that is changed on the disk while it is written fails the digest")
    func digestOfTheFile() async throws {
        let place = try Downloading(2_000_000)
        var download = place.download()
        download.sha256 = SHA256.hex(of: place.bytes)
        var changed = place.bytes
        changed[0] ^= 1
        let (files, part, byte) = (place.files, place.part, changed.prefix(1))
        // The first write is of the sidecar, the second one of the part's first bytes.
        files.before(.write) {
            files.before(.write) {
                files.before(.write) {
                    let handle = try? FileHandle(forUpdating: part)
                    try? handle?.write(contentsOf: byte)
                    try? handle?.close()
                }
            }
        }

        let error = await place.error(download)

        #expect(error == .digest(expected: SHA256.hex(of: place.bytes), found: SHA256.hex(of: changed)))
    }

    @Test("A digest that isn't the expected one fails, and nothing is kept")
    func digest() async throws {
        let place = try Downloading()
        var download = place.download()
        let found = SHA256.hex(of: place.bytes)
        download.sha256 = String(repeating: "0", count: 64)
        #expect(await place.error(download) == .digest(expected: String(repeating: "0", count: 64), found: found))
        #expect(place.names.isEmpty && place.files.openFiles == 0)
        download.sha256 = found.uppercased()
        #expect(try await place.request(download).sha256 == found)
        #expect(place.isWhole())
    }

    @Test("Of a response that is a failure, by its status or by a rule, nothing is kept")
    func failures() async throws {
        let place = try Downloading { $0.status = 404 }
        await #expect(throws: HTTPError.self) { try await place.request() }
        #expect(place.names.isEmpty)
        place.server.change {
            $0.status = nil
            $0.headers["X-Error"] = "1"
        }
        struct Refused: Error {}
        var service = try HTTPService(place.server)
        service.rules = [ResponseRule { $0.headers["X-Error"] == nil ? .undecided : .rejected(Refused()) }]
        let provider = DownloadProvider(service, files: place.files)
        let error = await #expect(throws: HTTPError.self) { try await provider.request(place.download()) }
        #expect(error?.failure(as: Refused.self) != nil && place.names.isEmpty && place.files.openFiles == 0)
    }

    @Test("Two downloads into the same place don't meet")
    func inUse() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 5_000, signal) }
        async let first = place.request()
        try await place.server.log.contains("5000")
        #expect(await place.error() == .inUse("map.bin.part"))
        try await place.provider.discard(place.download())
        signal.open()
        _ = try await first
        #expect(place.isWhole())
    }

    @Test("A call hears how far it has come: never backwards, never more than all, and all of it before the value")
    func progress() async throws {
        let place = try Downloading(3_000_000)
        let log = Log()
        let call = Integrator(try place.provider).prepareCall(place.download())
            .onProgress { log.add("\($0.completed ?? -1)/\($0.total ?? -1) \($0.fraction)") }
        _ = try await call.call().value
        let counts = log.entries.compactMap { Int($0.prefix { $0 != "/" }) }
        #expect(counts == counts.sorted() && counts.last == 3_000_000)
        #expect(log.entries.last == "3000000/3000000 1.0")
    }

    @Test("Downloads compose as other providers do")
    func composition() async throws {
        let (first, second) = (try Downloading(), try Downloading(2_000))
        let signIn = ClosureDataProvider { (_: Void) in (first.download(), second.download()) }
        let both = signIn >>>> (try first.provider >><< second.provider)
        let files = try await both.request()
        #expect(files.0.size == 10_000 && files.1.size == 2_000 && first.isWhole() && second.isWhole())
    }

    @Test("An answer without content isn't an empty file", arguments: [204, 205])
    func noContent(status: Int) async throws {
        let place = try Downloading()
        _ = try place.folder.file("map.bin", "good")
        var download = place.download()
        download.existing = .replace
        let server = ScriptedTransport { _ in .text("", status: status) }
        await #expect(throws: TransferError.noContent) {
            try await DownloadProvider(try HTTPService(server), files: place.files).request(download)
        }
        #expect(try place.names == ["map.bin"] && String(contentsOf: place.file, encoding: .utf8) == "good")
    }
}
