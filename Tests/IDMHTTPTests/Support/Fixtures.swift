import Foundation
import IDMTesting
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
