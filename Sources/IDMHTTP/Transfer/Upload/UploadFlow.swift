internal import Foundation
internal import IDMCore
internal import Synchronization

/// The bytes of an upload on their way, which stop while it is paused.
final class UploadFlow: Sendable {
    private struct State {
        var length: Int64?
        var isOver = false
    }

    private let control: PauseControl?
    private let state = Mutex(State())

    init(_ control: PauseControl?) {
        self.control = control
    }

    /// How many bytes there are, if that is known.
    var length: Int64? { state.withLock { $0.length } }
    /// Whether all of the bytes have been handed on, the last time that they were.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// A body that stops while the upload is paused. What is in memory is handed on as a whole, unless somebody may pause.
    func led(_ body: RequestBody.Encoded) -> RequestBody.Encoded {
        state.withLock { $0 = State(length: body.length.map { Int64($0) }) }
        guard let control else { return body }
        return body.led { bytes in
            HTTPBytes { UploadCursor(pieces: bytes.makeAsyncIterator(), control: control, flow: self) }
        }
    }

    fileprivate func handOn(_ count: Int64?) {
        state.withLock { $0.isOver = count == nil || count == $0.length }
    }
}

private struct UploadCursor: ByteCursor {
    var pieces: HTTPBytes.Iterator
    let control: PauseControl
    let flow: UploadFlow
    /// What doesn't fit into one piece.
    var rest = Data()
    var handedOn: Int64 = 0

    private static let pieceLength = 1 << 16

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        try await control.waitWhilePaused(isolation: isolation)
        if rest.isEmpty {
            guard let piece = try await pieces.next(isolation: isolation) else {
                flow.handOn(nil)
                return nil
            }
            rest = piece
        }
        let piece = rest.prefix(Self.pieceLength)
        rest = rest.dropFirst(piece.count)
        handedOn += Int64(piece.count)
        flow.handOn(handedOn)
        return piece
    }
}
