import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

extension Duration {
    /// The time-out of tests that aren't about time-outs. On a busy machine a minute goes by before anything is at
    /// fault.
    static var patient: Self { .seconds(600) }
}

/// A configuration of an API that doesn't exist.
func api(_ base: String = "https://api.example.com/v1", headers: ServiceHeaders = [:]) throws -> ServiceConfiguration {
    ServiceConfiguration(baseURL: try #require(URL(string: base)), headers: headers, idleTimeout: .patient)
}

extension ServiceConfiguration {
    /// The URL that a request would be sent to.
    func url(_ path: String, _ parameters: [String: String] = [:], query: ServiceRequest.Query = [:]) throws -> String {
        try resolve(ServiceRequest(.get, path, pathParameters: parameters, query: query)).url.absoluteString
    }
}

extension HTTPError {
    /// Which time was over, if it was that.
    var limit: TimeLimit? {
        if case .timedOut(let limit) = reason { limit } else { nil }
    }
}

extension HTTPBytes {
    /// Everything, once it has come.
    func all() async throws -> Data {
        var all = Data()
        for try await piece in self { all += piece }
        return all
    }
}

/// An interceptor made of a closure.
struct ClosureInterceptor: HTTPInterceptor {
    private let body: @Sendable (ServiceRequest, InterceptorChain) async throws -> ServiceResponse

    init(_ body: @escaping @Sendable (ServiceRequest, InterceptorChain) async throws -> ServiceResponse) {
        self.body = body
    }

    func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        try await body(request, next)
    }
}

/// Hears each report, where a call would merge some of them.
final class ProgressLog: ProgressListener {
    private let log = Log()

    /// How many units were completed, by each report.
    var counts: [String] { log.entries }

    func hear(_ progress: IntegrationProgress) {
        log.add("\(progress.completed ?? -1)")
    }

    /// Listens to something.
    func listen<Value: Sendable>(to body: () async throws -> Value) async rethrows -> Value {
        try await IntegrationProgress.Reporter(self).ambient { try await body() }
    }
}
