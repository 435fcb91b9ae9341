/// Where a transfer of a ``TransferCenter`` stands.
public enum TransferState: Sendable {
    /// It is its turn when another transfer ends or is paused.
    case waiting(TransferProgress)
    /// It is its turn: bytes come or go, or it waits until another one has left its place on the disk.
    case running(TransferProgress)
    /// It waits until it is resumed, or does what a pause can't end: see ``TransferCenter/pause(_:)``.
    case paused(TransferProgress)
    /// It is done.
    case finished(TransferResult)
    /// It has failed. It may be resumed.
    case failed(any Error)
    /// It was cancelled.
    case cancelled

    /// How far it has come, as long as it may go on by itself or by being resumed.
    public var progress: TransferProgress? {
        switch self {
        case .waiting(let progress), .running(let progress), .paused(let progress): progress
        case .finished, .failed, .cancelled: nil
        }
    }

    /// Whether nothing more happens unless somebody asks for it.
    public var isOver: Bool { progress == nil }
}
