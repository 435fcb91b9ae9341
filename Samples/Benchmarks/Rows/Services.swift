import Foundation
import IDMCore
import IDMHTTP
import IDMTesting

/// A request to a server in the same process, beside the same request on a bare session with a delegate.
enum Services {
    static let rows: [Benchmark] = [
        .time("request of a service", service, against: session, limit: .times(1.05)),
        .time("2,000 requests, 64 at a time", ofAll: 2_000, crowd, against: sessionCrowd, limit: .times(1)),
        Benchmark(
            name: "memory of ten times as many requests", opponent: sessionCrowd.name, unit: .bytes,
            limit: .figure(1_048_576), measure: growth),
    ]

    private static let hello = "hello"

    private static let server = Task {
        let server = try LoopbackServer(remembers: false)
        server.on(.get, "/a", answer: .text(hello))
        return server
    }

    private static let bare = BareSession()

    /// With a rule, and with three interceptors that most apps have.
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

    /// How much memory 50,000 requests take beyond what 5,000 have taken.
    private static func growth(_ effort: Effort) async throws -> Reading {
        let few = effort.rounds >= Effort.full.rounds ? 5_000 : 200
        func growth(_ side: Side) async throws -> Spread? {
            _ = try await side.run(few)
            return try await Peak.growth { _ = try await side.run(few * 10) }.map { Spread([Double($0)]) }
        }
        return Reading(ours: try await growth(crowd), theirs: try await growth(sessionCrowd))
    }
}
