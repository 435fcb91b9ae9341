import Foundation
import IDMCore
import IDMHTTP
import IDMHTTPTesting

/// A request to a server in the same process, compared with the same request on a bare session with a delegate.
enum Services {
    static let rows: [Benchmark] = [
        .time("request of a service", service, against: session, limit: .times(1.05)),
        .time("cached response of a service", cached, against: session, limit: .times(0.05)),
        .time("2,000 requests, 64 at a time", ofAll: 2_000, crowd, against: sessionCrowd, limit: .times(1)),
        Benchmark(
            name: "memory that 50,000 requests leave", opponent: sessionCrowd.name, unit: .bytes,
            limit: .over(1_048_576), measure: rest),
    ]

    private static let hello = "hello"

    private static let server = Task {
        let server = try LoopbackServer(remembers: false)
        server.on(.get, "/a", answer: .text(hello))
        server.on(.get, "/cached", answer: .text(hello).header("Cache-Control", "max-age=3600"))
        return server
    }

    private static let bare = BareSession()

    /// A service with a rule and three common interceptors.
    private static func api() async throws -> HTTPService {
        let url = try await server.value.url
        return HTTPService(
            configuration: ServiceConfiguration(baseURL: url),
            interceptors: [
                EventLogInterceptor { _ in }, RetryInterceptor(),
                AuthenticationInterceptor(BearerAuthenticator(), for: url, credential: "token"),
            ],
            rules: [.status(in: 200..<300)])
    }

    private static let service = Side("service.request", proof: { $0 * hello.utf8.count }) { operations in
        let api = try await api()
        var total = 0
        for _ in 0..<operations { total += try await api.request(ServiceRequest(.get, "/a")).body.count }
        return total
    }

    /// A service whose cache has the response.
    private static let caching = Task {
        let api = HTTPService(configuration: ServiceConfiguration(baseURL: try await server.value.url))
        _ = try await api.request(ServiceRequest(.get, "/cached"))
        return api
    }

    private static let cached = Side("response of the cache", proof: { $0 * hello.utf8.count }) { operations in
        let api = try await caching.value
        var total = 0
        for _ in 0..<operations { total += try await api.request(ServiceRequest(.get, "/cached")).body.count }
        return total
    }

    private static let session = Side("bare delegate session", proof: { $0 * hello.utf8.count }) { operations in
        let url = try await server.value.url("/a")
        var total = 0
        for _ in 0..<operations { total += try await bare.count(url) }
        return total
    }

    private static let crowd = Side("64 requests of a service", proof: { $0 * hello.utf8.count }) { operations in
        let api = try await api()
        return try await sum(operations) { try await api.request(ServiceRequest(.get, "/a")).body.count }
    }

    private static let sessionCrowd = Side("64 of a bare session", proof: { $0 * hello.utf8.count }) { operations in
        let url = try await server.value.url("/a")
        return try await sum(operations) { try await bare.count(url) }
    }

    /// Performs a job a number of times, 64 at a time.
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

    /// The growth of the bytes in use during 50,000 requests. Not zero on Linux: URLSession leaks the four parts of the
    /// address that it gives to libcurl, for each request.
    private static func rest(_ effort: Effort) async throws -> Reading {
        let count = effort.rounds >= Effort.full.rounds ? 50_000 : 2_000
        func rest(_ side: Side) async throws -> Spread? {
            _ = try await side.run(count / 10)
            return try await Heap.growth { _ = try await side.run(count) }.map { Spread([Double($0)]) }
        }
        return Reading(ours: try await rest(crowd), theirs: try await rest(sessionCrowd))
    }
}
