import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// What big transfers take of the memory, each seen in a process of its own that nothing else works in.
@Suite("The memory of transfers", .timeLimit(.ample), .serialized)
struct TransferMemoryTests {
    /// How much of a big body would be seen if it were held: twice what may be taken, and more.
    private static let length = Volume.of(1 << 30, normally: 1 << 27)
    // Beside all other tests threads wait for their turn, and what is on its way between them takes more.
    private static let uploadLimit = Volume.of(32 << 20, normally: 64 << 20)
    private static let downloadLimit = Volume.of(48 << 20, normally: 64 << 20)

    @Test(
        "An upload of two files in one body takes less than 32 MB, be they 2 GB",
        .disabled(if: TestTransport.current.sendsFromMemory, "URLSession on Linux has all of a body in memory."))
    func multipart() async throws {
        let folder = try TemporaryFolder()
        let path = try Self.bigFile(in: folder).path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try await TransferMemoryTests.expect(lessThan: TransferMemoryTests.uploadLimit) { server in
                server.on(.put, "/film") { .text("\($0.bodyLength)") }
                let parts = ["left", "right"].map { MultipartBody.Part.file($0, URL(fileURLWithPath: path)) }
                let request = ServiceRequest(.put, "/film", body: .multipart(parts))
                let answer = try await UploadProvider(server.service()).request(request).text
                try #require(try #require(Int(answer)) > 2 * Self.length)
            }
        }
    }

    @Test("A download takes less than 48 MB, be it 1 GB")
    func download() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try await TransferMemoryTests.expect(lessThan: TransferMemoryTests.downloadLimit) { server in
                try await TransferMemoryTests.download(from: server, into: path)
            }
        }
    }

    @Test(
        "A body that is held beside a download would be seen, in one piece and in many", arguments: [length, 1 << 16])
    func held(size: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path
        await #expect(processExitsWith: .success) { [size = size as Int, path = path as String] in
            let growth = try await TransferMemoryTests.growth { server in
                try await TransferMemoryTests.download(from: server, into: path)
                let body = (0..<Self.length / size).map { _ in Data(repeating: 1, count: size) }
                try #require(body.allSatisfy { $0.last == 1 })
            }
            try #require(growth > TransferMemoryTests.downloadLimit)
        }
    }

    private static func download(from server: LoopbackServer, into path: String) async throws {
        let film = LoopbackServer.Resource(length: length, eTag: "\"v1\"")
        server.on(.get, "/film", answer: .resource(film))
        let url = URL(fileURLWithPath: path).appendingPathComponent("film.bin")
        let download = ServiceDownload(ServiceRequest(.get, "/film"), to: .file(url))
        try #require(try await DownloadProvider(server.service()).request(download).size == length)
    }

    /// A file to be sent. All of it is zeros that take no room on the disk.
    private static func bigFile(in folder: TemporaryFolder) throws -> URL {
        let url = try folder.file("source", Data())
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: UInt64(length))
        try file.close()
        return url
    }

    /// Runs a transfer in this process, and fails if the process held more memory in it than is fair.
    private static func expect(
        lessThan limit: Int, _ transfer: (LoopbackServer) async throws -> Void
    ) async throws {
        let growth = try await growth(in: transfer)
        try #require(growth < limit, "\(growth >> 20) MB")
    }

    /// How much more memory the code in this process has held in a transfer than before it.
    private static func growth(in transfer: (LoopbackServer) async throws -> Void) async throws -> Int {
        let server = try LoopbackServer(keepingBodiesUpTo: 0, remembers: false)
        server.on(.get, "/", answer: .text("hello"))
        // What the first of all requests takes is no transfer's.
        _ = try await server.service().request(ServiceRequest(.get, "/"))
        let (before, heapBefore) = (try peak, watchedHeap)
        try await transfer(server)
        let growth = try peak - before
        guard let heapBefore, let heap = watchedHeap.map({ $0 - heapBefore }) else { return growth }
        // To each byte of its heap Thread Sanitizer adds up to two of shadow, and half a one of what it knows of it: 24
        // MB more of heap were 81 MB more of memory. Only what is big leaves that heap again, so what hasn't left is
        // what was held of the rest. Up to 42 MB of it hide no body that has left.
        return max(heap, growth - heap * 5 / 2)
    }

    /// How big the heap is, if it is Thread Sanitizer's.
    private static var watchedHeap: Int? {
        let everything = dlopen(nil, RTLD_LAZY)
        guard dlsym(everything, "__tsan_init") != nil, let ask = dlsym(everything, "__sanitizer_get_heap_size")
        else { return nil }
        return unsafeBitCast(ask, to: (@convention(c) () -> Int).self)()
    }

    /// How many bytes of memory this process has held at most, so far.
    private static var peak: Int {
        get throws {
            #if canImport(Darwin)
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
            #else
            // What getrusage tells of a child has its parent's peak in it.
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }) << 10
            #endif
        }
    }
}
