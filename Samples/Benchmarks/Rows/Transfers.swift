import Foundation
import IDMHTTP
import IDMHTTPTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Downloads and uploads of a gigabyte over the loopback, compared with a hand-written session delegate. An operation is
/// a megabyte. The server shares the processors with both sides, and its scheduling is most of the difference between
/// rounds, so the medians count.
enum Transfers {
    static let rows: [Benchmark] = [
        .time(
            "download, 1 MB of 1 GB", downloads, against: bareDownloads, limit: .times(1 / 0.9), by: .median,
            operations: count, leastRounds: 15),
        .time(
            "upload, 1 MB of 1 GB", uploads, against: bareUploads, limit: .times(1 / 0.9), by: .median,
            operations: count),
        .figure(
            "memory for a download of 1 GB", in: .bytes,
            { try await Peak.growth { _ = try await downloads.run(1) } },
            against: "a delegate that writes", { try await Peak.growth { _ = try await bareDownloads.run(1) } },
            limit: .figure(48 * 1_048_576)),
        .figure(
            "memory for an upload of 2 GB in two parts", in: .bytes,
            { try await Peak.growth { _ = try await multipartUpload() } },
            against: "1 GB of a file", { try await Peak.growth { _ = try await bareUploads.run(1) } },
            limit: .figure(32 * 1_048_576)),
    ]

    private static let count = CommandLine.arguments.contains("--quick") ? 16 : 1 << 10

    private struct Fixture {
        let scratch: Scratch
        let server: LoopbackServer
        let service: HTTPService
        let source: URL

        init() throws {
            scratch = try Scratch()
            server = try LoopbackServer(keepingBodiesUpTo: 0, remembers: false)
            service = HTTPService(configuration: ServiceConfiguration(baseURL: server.url))
            server.on(
                .get, "/film", answer: .resource(LoopbackServer.Resource(length: count << 20, eTag: "\"v1\"")))
            server.on(.put, "/film") { request in .text("\(request.bodyLength)") }
            source = scratch.url.appendingPathComponent("source")
            guard FileManager.default.createFile(atPath: source.path, contents: nil) else { throw Fault("no source") }
            let file = try FileHandle(forWritingTo: source)
            let piece = Data(repeating: 7, count: 1 << 20)
            for _ in 0..<count { try file.write(contentsOf: piece) }
            try file.close()
        }

        /// Downloads to a separate file, and removes it at once. The system would write a file that stays to the disk
        /// during the next round.
        func download(_ body: (URL) async throws -> Int) async throws -> Int {
            let url = scratch.url.appendingPathComponent("film")
            defer { try? FileManager.default.removeItem(at: url) }
            return try await body(url)
        }
    }

    private static let fixture = Task { try Fixture() }

    private static let downloads = Side("DownloadProvider", proof: { $0 }) { operations in
        let fixture = try await fixture.value
        let size = try await fixture.download { file in
            let download = ServiceDownload(ServiceRequest(.get, "/film"), to: .file(file))
            return Int(try await DownloadProvider(fixture.service).request(download).size)
        }
        return size / (count << 20) * operations
    }

    private static let bareDownloads = Side("a delegate that writes", proof: { $0 }) { operations in
        let fixture = try await fixture.value
        let transfer = BareTransfer()
        let session = URLSession(configuration: .ephemeral, delegate: transfer, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let size = try await fixture.download { file in
            try await transfer.download(fixture.server.url("/film"), to: file.path, in: session)
        }
        return size / (count << 20) * operations
    }

    private static let uploads = Side("UploadProvider", proof: { $0 }) { operations in
        let fixture = try await fixture.value
        let request = ServiceRequest(.put, "/film", body: .file(fixture.source))
        let answer = try await UploadProvider(fixture.service).request(request).text
        return (Int(answer) ?? 0) / (count << 20) * operations
    }

    /// A bare session has no such body, except one that is built in memory.
    private static func multipartUpload() async throws {
        let fixture = try await fixture.value
        let parts = ["left", "right"].map { MultipartBody.Part.file($0, fixture.source) }
        let request = ServiceRequest(.put, "/film", body: .multipart(parts))
        let answer = try await UploadProvider(fixture.service).request(request).text
        guard (Int(answer) ?? 0) > 2 * count << 20 else { throw Fault("\(answer) bytes of two files came") }
    }

    private static let bareUploads = Side("uploadTask(with:fromFile:)", proof: { $0 }) { operations in
        let fixture = try await fixture.value
        let transfer = BareTransfer()
        let session = URLSession(configuration: .ephemeral, delegate: transfer, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        // As many as the digits of what the server says it has got.
        let digits = try await transfer.upload(fixture.source, to: fixture.server.url("/film"), in: session)
        return digits == "\(count << 20)".count ? operations : 0
    }
}
