import Foundation
import IDMTesting
import TestSupport

@testable import IDMHTTP

/// A server that reads bodies, right at the seam, and answers when it has all of one.
final class BodyTransport: HTTPTransport {
    struct Broken: Error {}

    private struct State {
        var bodies: [Data] = []
        var requests: [TransportRequest] = []
    }

    private let state = Observed(State())
    private let answer: @Sendable (Int) -> TransportResponse
    /// What is done before a piece of a body is asked for.
    private let beforePiece: @Sendable (_ body: Int, _ count: Int) async throws -> Void

    init(
        _ answer: @escaping @Sendable (Int) -> TransportResponse = { _ in .text("done") },
        beforePiece: @escaping @Sendable (_ body: Int, _ count: Int) async throws -> Void = { _, _ in }
    ) {
        self.answer = answer
        self.beforePiece = beforePiece
    }

    /// Stops before a piece of the first body, or of these, until the signal is opened.
    static func held(at moment: Int, _ gate: Signal, of bodies: some RangeExpression<Int> & Sendable = 0...0)
        -> BodyTransport
    {
        BodyTransport(beforePiece: { body, count in
            if bodies.contains(body), count >= moment { try await gate.wait() }
        })
    }

    /// What has come of each body.
    var bodies: [Data] { state.value.bodies }
    var requests: [TransportRequest] { state.value.requests }

    /// Waits until so many bytes of a body have come.
    func received(_ count: Int, of body: Int = 0) async throws {
        try await state.wait { $0.bodies.count > body && $0.bodies[body].count >= count }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let number = state.change { state in
            state.bodies.append(Data())
            state.requests.append(request)
            return state.bodies.count - 1
        }
        guard let body = request.body else { return answer(number) }
        var pieces = try body.bytes().makeAsyncIterator()
        var count = 0
        while true {
            try await beforePiece(number, count)
            guard let piece = try await pieces.next() else { break }
            count += piece.count
            state.change { $0.bodies[number] += piece }
            request.didSend(Int64(count))
        }
        return answer(number)
    }
}
