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
    /// A service of an API that doesn't exist, without a deadline.
    init(
        _ transport: any HTTPTransport, interceptors: [any HTTPInterceptor] = [], rules: [ResponseRule] = [],
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        var configuration = try api("https://h/v1")
        configuration.deadline = nil
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

/// The body of a response that comes as the test sends it.
final class HeldBody: AsyncSequence, Sendable {
    private struct State {
        var asked = 0
        var pieces: [Data] = []
        var end: Result<Void, any Error>?
    }

    private let state = Watched(State())

    var bytes: HTTPBytes { HTTPBytes(self) }

    func send(_ text: String) { state.change { $0.pieces.append(Data(text.utf8)) } }
    func finish() { state.change { $0.end = .success(()) } }
    func fail(_ error: any Error) { state.change { $0.end = .failure(error) } }

    /// How many pieces have been asked for.
    var count: Int { state.value.asked }

    /// Waits until so many pieces have been asked for.
    func asked(_ count: Int) async throws {
        try await state.wait { $0.asked >= count }
    }

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: HeldBody

        mutating func next() async throws -> Data? {
            body.state.change { $0.asked += 1 }
            try await body.state.wait { !$0.pieces.isEmpty || $0.end != nil }
            let piece: Data? = body.state.change { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
            if let piece { return piece }
            try body.state.value.end?.get()
            return nil
        }
    }
}
