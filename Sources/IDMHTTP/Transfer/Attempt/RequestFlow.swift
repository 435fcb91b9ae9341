internal import Foundation
internal import IDMCore

/// The bytes of a request on their way, in one attempt at it.
final class RequestFlow: Sendable {
    private struct State {
        /// Whether the body may be under way.
        var hasBegun = false
        /// Whether it was ended.
        var hasEnded = false
        /// Whether nothing ends it any more.
        var isSettled = false
        var length: Int64?
    }

    /// Whether it does no harm to begin again, also if all of it had just arrived.
    private let isRepeatable: Bool
    /// Whether a part of the answer can be asked for.
    let hasRanges: Bool
    private let control: PauseControl?
    private let state = Locked(State())

    init(_ request: ServiceRequest, _ control: PauseControl?) {
        isRepeatable = request.isRetryable
        hasRanges = request.method == .get
        // Of a request without one nobody tells when it goes.
        if request.body == nil { state.withLock { $0.hasBegun = true } }
        self.control = control
    }

    /// How many bytes there are, if that is known.
    var length: Int64? { state.withLock { $0.length } }

    /// Ends the attempt, if it may be begun again. A body that isn't under way doesn't go any more.
    func end() -> Bool {
        state.withLock { state in
            guard !state.isSettled, isRepeatable || !state.hasBegun else { return false }
            state.hasEnded = true
            return true
        }
    }

    /// From here on nothing ends the attempt. Throws `CancellationError` if something has.
    func settle() throws {
        try Task.checkCancellation()
        try state.withLock { state in
            if state.hasEnded { throw CancellationError() }
            state.isSettled = true
        }
    }

    /// The body that is sent. What can't be begun again stands still where it is while the upload is paused, as far as
    /// whoever sends it reads it piece by piece.
    func led(_ body: RequestBody.Encoded) -> RequestBody.Encoded {
        let hasEnded = state.withLock { state in
            if state.hasEnded { return true }
            (state.hasBegun, state.length) = (true, body.length.map { Int64($0) })
            return false
        }
        // Whoever has ended it does the same, but perhaps not soon enough.
        if hasEnded { withUnsafeCurrentTask { $0?.cancel() } }
        guard let control, !isRepeatable else { return body }
        return body.led { bytes in
            HTTPBytes { PausedCursor(pieces: bytes.makeAsyncIterator(), control: control, rest: body.length) }
        }
    }

    /// The answer to what can't be asked for again: it isn't read while the transfer is paused.
    func led(_ answer: HTTPBytes, until deadline: RequestDeadline?) -> HTTPBytes {
        guard let control, !isRepeatable else { return answer }
        return HTTPBytes { PausedCursor(pieces: answer.makeAsyncIterator(), control: control, deadline: deadline) }
    }
}

private struct PausedCursor: ByteCursor {
    var pieces: HTTPBytes.Iterator
    let control: PauseControl
    /// Where nobody else sees to it that it is kept.
    var deadline: RequestDeadline?
    /// How many bytes are still to come, if that is known. Behind the last one there is nothing to hold.
    var rest: Int?

    mutating func gather(_ least: Int) { pieces.gather(least) }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        if rest != 0 { try await control.waitWhilePaused(until: deadline, isolation: isolation) }
        let piece = try await pieces.next(isolation: isolation)
        rest = rest.map { $0 - (piece?.count ?? 0) }
        return piece
    }
}
