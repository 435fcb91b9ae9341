import Dispatch
import Foundation
import IDMCore
import IDMFiles
import IDMHTTPTesting
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

/// A child process downloads and is killed in the middle of it, again and again.
///
/// The server sends no more than one buffer beyond what is in the file, but for a rest of less than 4 KB. So no byte
/// can come twice but those of one buffer for each kill, and a download that wants more before it writes gets nowhere.
@Suite("A download whose process is killed", .timeLimit(.minutes(Volume.isFull ? 60 : 20)), .serialized)
struct KilledDownloadTests {
    @Test("It goes on each time where it stopped, has no byte come twice beyond one buffer, and is right in the end")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let film = LoopbackServer.Resource(length: Volume.of(60_000_000, normally: 6_000_000), eTag: "\"v1\"")
        let part = folder.url.appendingPathComponent("film.bin.part")
        var random = SplitMix(seed: 7)
        try await LoopbackServer.run { server in
            // None gets further than its share as long as one is to be killed, so that there is something left for
            // each.
            let last = TestGate()
            let rounds = Volume.of(100, normally: 6)
            let share = film.length / (rounds + 1)
            let pace = try DiskPace(of: part, window: DownloadRun.bufferLength)
            defer { pace.end() }
            server.on(.get, "/film") { request in
                let gate = pace.gate(from: Self.start(of: request))
                return .resource(film).dripping(DiskPace.piece, through: gate).waiting(for: last, at: .body(share))
            }
            var (steps, round, patience) = (0, 0, 1)
            // On a busy machine a child may need longer to get anywhere.
            while steps < rounds {
                let (path, address, pipe) = (folder.url.path, server.url.absoluteString, pace.pipe)
                let delay = min(Int.random(in: 5_000...80_000, using: &random) * patience, 900_000)
                let before = length(of: part)
                let asked = server.journal.requestCount
                await #expect(processExitsWith: .signal(SIGALRM)) {
                    [path = path as String, address = address as String, pipe = pipe as String, delay = delay as Int] in
                    try await KilledDownloadTests.download(from: address, into: path, telling: pipe, until: delay)
                }
                try await server.waitUntil { $0.connections.allSatisfy(\.isClosed) }
                round += 1
                let after = length(of: part)
                #expect(after >= before, "round \(round): what was there is gone")
                (steps, patience) = after > before ? (steps + 1, 1) : (steps, patience + 1)
                for request in server.requests.dropFirst(asked) {
                    let start = Self.start(of: request)
                    // One byte is asked for before there is more than one.
                    #expect(
                        start == (before > 1 ? before : 0), "round \(round): asked from \(start), with \(before) there")
                }
            }
            var download = Self.download(into: folder.url.path)
            download.sha256 = SHA256.hex(of: film.bytes(0..<film.length))
            last.open()
            let before = length(of: part)
            let service = HTTPService(configuration: ServiceConfiguration(baseURL: server.url, idleTimeout: .patient))
            let found = try await DownloadProvider(service, files: TellingFiles(pace.pipe)).request(download)
            #expect(found.sha256 == download.sha256 && found.size == film.length)
            #expect(server.requests.last.map { Self.start(of: $0) } == before)
            let names = try folder.names()
            #expect(names == ["film.bin"])
        }
    }

    /// The byte from which on a request asks for the film.
    private static func start(of request: LoopbackServer.Request) -> Int {
        request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
    }

    private static func download(into path: String) -> ServiceDownload {
        let file = URL(fileURLWithPath: path).appendingPathComponent("film.bin")
        var download = ServiceDownload(ServiceRequest(.get, "/film"), to: .file(file))
        download.object = "film"
        return download
    }

    /// Runs in the child, until the alarm goes off, whose default is to end the process on the spot.
    private static func download(
        from address: String, into path: String, telling pipe: String, until delay: Int
    ) async throws {
        let url = try #require(URL(string: address))
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: url))
        let provider = DownloadProvider(service, files: TellingFiles(pipe))
        _ = ualarm(.init(delay), 0)
        // One that gets to the end all the same begins again, and is refused: the alarm is what ends it.
        while true { _ = try? await provider.request(download(into: path)) }
    }
}

/// Lets a server send as much as is in a file, and a window beyond it.
private final class DiskPace: Sendable {
    private struct Answer {
        let gate = TestGate()
        /// Up to which byte of the file it has been let through.
        var end: Int
    }

    /// How much goes through the gate at once, and may be sent beyond the window.
    static let piece = 1 << 12
    /// What comes by the pipe when nobody is to look any more.
    private static let last = UInt8(ascii: "e")

    private let file: URL
    private let window: Int
    private let answer = Mutex<Answer?>(nil)
    private let folder: TemporaryFolder
    /// By which whoever writes the file tells of that.
    let pipe: String
    private let descriptor: Int32

    init(of file: URL, window: Int) throws {
        self.file = file
        self.window = window
        folder = try TemporaryFolder()
        pipe = folder.url.appendingPathComponent("written").path
        try #require(mkfifo(pipe, 0o600) == 0)
        // Open on both sides, so that it lasts longer than a process that writes to it.
        descriptor = open(pipe, O_RDWR)
        try #require(descriptor >= 0)
        DispatchQueue(label: "pace").async { self.follow() }
    }

    /// Looks at the file whenever something comes by the pipe, on a thread that may wait for it.
    private func follow() {
        var bytes = [UInt8](repeating: 0, count: 1 << 12)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0, !bytes[..<count].contains(Self.last) else { break }
            look()
        }
        close(descriptor)
    }

    func end() { _ = withUnsafeBytes(of: Self.last) { write(descriptor, $0.baseAddress, 1) } }

    /// The gate of a new answer, whose body begins at a byte of the file.
    func gate(from start: Int) -> TestGate {
        let new = Answer(end: start)
        answer.withLock { $0 = new }
        look()
        return new.gate
    }

    /// Opens the gate by what has come to the file.
    private func look() {
        let end = length(of: file) + window
        answer.withLock { answer in
            while let next = answer?.end, next < end {
                answer?.end = next + Self.piece
                answer?.gate.open(for: 1)
            }
        }
    }
}

private func length(of file: URL) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
}
