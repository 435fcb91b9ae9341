#if os(Linux)
import Foundation
import FoundationNetworking
import IDMHTTP

/// Requests over libcurl beside the same requests of a bare session with a delegate, to a server that isn't the
/// bottleneck where nginx is there.
///
/// On Linux a bare session accepts no certificates but the system's. Its requests go without TLS and HTTP/2.
enum Transports {
    static let rows: [Benchmark] = [
        .time("request of a transport", one, against: bareOne, limit: .times(0.38), by: .median, leastRounds: 9),
        .time(
            "request of a transport, 64 at a time", crowd, against: bareCrowd, limit: .times(0.09), by: .median,
            operations: 2_000, leastRounds: 9),
        .time(
            "request of a transport, HTTP/2, 64 at a time", secureCrowd, against: bareCrowd, limit: .times(0.2),
            by: .median, operations: 1_000, leastRounds: 9),
        .time(
            "request of a service over libcurl", service, against: bareOne, limit: .times(0.45), by: .median,
            leastRounds: 9),
        .time(
            "request of a service over libcurl, 64 at a time", serviceCrowd, against: bareCrowd, limit: .times(0.16),
            by: .median, operations: 2_000, leastRounds: 9),
        .time(
            "download of 1 GB over libcurl", download, against: bareDownload, limit: .times(0.5), by: .median,
            operations: 1, leastRounds: 9),
        .time(
            "upload of 1 GB over libcurl", upload, against: bareUpload, limit: .times(0.5), by: .median, operations: 1,
            leastRounds: 9),
        .time(
            "200 MB as a stream over libcurl", stream, against: bareFilm, limit: .times(0.4), by: .median,
            operations: 1,
            leastRounds: 9),
        .time(
            "200 MB whole over libcurl", whole, against: bareFilm, limit: .times(0.5), by: .median, operations: 1,
            leastRounds: 9),
        .figure(
            "memory for 64 requests over libcurl", in: .bytes,
            { try await Peak.growth { _ = try await crowd.run(10_000) } },
            against: bareCrowd.name, { try await Peak.growth { _ = try await bareCrowd.run(10_000) } },
            limit: .figure(30 * 1_048_576)),
        .figure(
            "memory for a slow reader over libcurl", in: .bytes, { try await Peak.growth(readSlowly) },
            against: bareFilm.name, { try await Peak.growth { _ = try await bareFilm.run(1) } },
            limit: .figure(30 * 1_048_576)),
    ]

    private static let bare = BareSession()
    private static let hello = 5

    private static func request(_ url: URL, _ transport: CurlTransport) async throws -> Int {
        let response = try await transport.send(TransportRequest(.get, url))
        var count = 0
        for try await piece in response.body { count += piece.count }
        return count
    }

    private static let one = Side("CurlTransport", proof: { $0 * hello }) { operations in
        let (transport, url) = (try CurlTransport.shared(), try await WebServer.shared.value.url)
        var total = 0
        for _ in 0..<operations { total += try await request(url.appendingPathComponent("a"), transport) }
        return total
    }

    private static let bareOne = Side("bare delegate session", proof: { $0 * hello }) { operations in
        let url = try await WebServer.shared.value.url.appendingPathComponent("a")
        var total = 0
        for _ in 0..<operations { total += try await bare.count(url) }
        return total
    }

    private static let crowd = Side("64 of CurlTransport", proof: { $0 * hello }) { operations in
        let transport = try CurlTransport.shared()
        let url = try await WebServer.shared.value.url.appendingPathComponent("a")
        return try await sum(operations) { try await request(url, transport) }
    }

    private static let bareCrowd = Side("64 of a bare session", proof: { $0 * hello }) { operations in
        let url = try await WebServer.shared.value.url.appendingPathComponent("a")
        return try await sum(operations) { try await bare.count(url) }
    }

    private static func api() async throws -> HTTPService {
        var configuration = ServiceConfiguration(baseURL: try await WebServer.shared.value.url)
        configuration.limits.body = .max
        configuration.cache = nil
        return HTTPService(configuration: configuration, transport: try CurlTransport.shared())
    }

    private static let service = Side("service.request", proof: { $0 * hello }) { operations in
        let api = try await api()
        var total = 0
        for _ in 0..<operations { total += try await api.request(ServiceRequest(.get, "/a")).body.count }
        return total
    }

    private static let serviceCrowd = Side("64 of a service", proof: { $0 * hello }) { operations in
        let api = try await api()
        return try await sum(operations) { try await api.request(ServiceRequest(.get, "/a")).body.count }
    }

    /// The folder for downloads, and a file of a gigabyte to upload.
    private static let scratch = Task {
        let scratch = try Scratch()
        let source = scratch.url.appendingPathComponent("source")
        guard FileManager.default.createFile(atPath: source.path, contents: nil) else { throw Fault("no source") }
        let file = try FileHandle(forWritingTo: source)
        try file.truncate(atOffset: UInt64(WebServer.archiveLength))
        try file.close()
        return (scratch, source)
    }

    private static let download = Side("DownloadProvider", proof: { $0 }) { operations in
        let file = try await scratch.value.0.url.appendingPathComponent("archive")
        defer { try? FileManager.default.removeItem(at: file) }
        let download = ServiceDownload(ServiceRequest(.get, "/archive"), to: .file(file))
        let size = Int(try await DownloadProvider(try await api()).request(download).size)
        return size / WebServer.archiveLength * operations
    }

    private static let bareDownload = Side("bare delegate session", proof: { $0 }) { operations in
        let file = try await scratch.value.0.url.appendingPathComponent("archive")
        defer { try? FileManager.default.removeItem(at: file) }
        let url = try await WebServer.shared.value.url.appendingPathComponent("archive")
        let transfer = BareTransfer()
        let session = URLSession(configuration: .ephemeral, delegate: transfer, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return try await transfer.download(url, to: file.path, in: session) / WebServer.archiveLength * operations
    }

    private static let upload = Side("UploadProvider", proof: { $0 }) { operations in
        let request = ServiceRequest(.put, "/kept/file", body: .file(try await scratch.value.1))
        _ = try await UploadProvider(try await api()).request(request)
        return try await WebServer.shared.value.takeKept() / WebServer.archiveLength * operations
    }

    private static let bareUpload = Side("bare delegate session", proof: { $0 }) { operations in
        let url = try await WebServer.shared.value.url.appendingPathComponent("kept/file")
        let transfer = BareTransfer()
        let session = URLSession(configuration: .ephemeral, delegate: transfer, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        _ = try await transfer.upload(try await scratch.value.1, to: url, in: session)
        return try await WebServer.shared.value.takeKept() / WebServer.archiveLength * operations
    }

    private static let secure = Task {
        try CurlTransport(certificates: try await WebServer.shared.value.certificate)
    }

    private static func secureURL() async throws -> URL {
        guard let url = try await WebServer.shared.value.secureURL else { throw Fault("nginx isn't there") }
        return url.appendingPathComponent("a")
    }

    private static let secureCrowd = Side("64 of CurlTransport", proof: { $0 * hello }) { operations in
        let (transport, url) = (try await secure.value, try await secureURL())
        return try await sum(operations) { try await request(url, transport) }
    }

    private static let stream = Side("service.open", proof: { $0 }) { operations in
        var count = 0
        for try await piece in try await api().open(ServiceRequest(.get, "/film")).bytes { count += piece.count }
        return count / WebServer.filmLength * operations
    }

    private static let whole = Side("service.request", proof: { $0 }) { operations in
        try await api().request(ServiceRequest(.get, "/film")).body.count / WebServer.filmLength * operations
    }

    private static let bareFilm = Side("bare delegate session", proof: { $0 }) { operations in
        let url = try await WebServer.shared.value.url.appendingPathComponent("film")
        return try await bare.count(url) / WebServer.filmLength * operations
    }

    /// Reads a piece, and no more for a while in which the server could send all of it.
    private static func readSlowly() async throws {
        let url = try await WebServer.shared.value.url.appendingPathComponent("film")
        var request = TransportRequest(.get, url)
        request.limits.body = .max
        let response = try await CurlTransport.shared().send(request)
        var pieces = response.body.makeAsyncIterator()
        _ = try await pieces.next()
        try await Task.sleep(for: .milliseconds(500))
        _ = try await pieces.next()
    }

    /// Does something so many times, 64 at a time.
    private static func sum(_ count: Int, of work: @escaping @Sendable () async throws -> Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            var total = 0
            for index in 0..<count {
                if index >= 64 { total += try await group.next() ?? 0 }
                group.addTask { try await work() }
            }
            for try await part in group { total += part }
            return total
        }
    }
}
#else
enum Transports {
    static let rows: [Benchmark] = []
}
#endif
