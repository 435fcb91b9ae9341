import Foundation
import IDMHTTP
import IDMTesting
import Synchronization

/// A transport that answers as the test says, and keeps what it was asked.
final class ScriptedTransport: HTTPTransport {
    private let requests = Mutex<[TransportRequest]>([])
    private let answer: @Sendable (TransportRequest) async throws -> TransportResponse

    init(_ answer: @escaping @Sendable (TransportRequest) async throws -> TransportResponse) {
        self.answer = answer
    }

    /// Answers each request with the same text.
    convenience init(status: Int = 200, headers: ServiceHeaders = [:], _ body: String = "") {
        self.init { _ in .text(body, status: status, headers: headers) }
    }

    /// Fails each request.
    convenience init(failing error: any Error) {
        self.init { _ in throw error }
    }

    /// The requests so far.
    var asked: [TransportRequest] { requests.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        requests.withLock { $0.append(request) }
        return try await answer(request)
    }
}

extension TransportResponse {
    static func text(_ text: String, status: Int = 200, headers: ServiceHeaders = [:]) -> TransportResponse {
        TransportResponse(status: status, headers: headers, body: HTTPBytes(Data(text.utf8)))
    }
}

extension HTTPService {
    /// A service of an API that doesn't exist, without a deadline and without a cache, in which equal requests would
    /// wait for each other.
    init(
        _ transport: any HTTPTransport, interceptors: [any HTTPInterceptor] = [], rules: [ResponseRule] = [],
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        var configuration = try api("https://h/v1")
        configuration.totalTimeout = nil
        configuration.cache = nil
        self.init(
            configuration: configuration, transport: transport, interceptors: interceptors, rules: rules, clock: clock)
    }

    /// The error that a request ends with.
    func error(_ request: ServiceRequest = ServiceRequest(.get, "/a")) async -> HTTPError? {
        do {
            _ = try await self.request(request)
            return nil
        } catch {
            return error as? HTTPError
        }
    }
}
