import Foundation
import IDMHTTP
import IDMTesting

/// The body of a response that comes as the test sends it.
final class HeldBody: AsyncSequence, Sendable {
    private struct State {
        var asked = 0
        var pieces: [Data] = []
        var end: Result<Void, any Error>?
    }

    private let state = Observed(State())

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
