internal import IDMCore
public import Observation

/// What a screen shows of a transfer.
///
/// ```swift
/// struct MapRow: View {
///     let id: String
///     let center: TransferCenter
///     @State private var status: TransferStatus?
///
///     var body: some View {
///         ProgressView(value: status?.progress?.fraction ?? 0)
///             .disabled(status?.state?.isOver ?? true)
///             .task(id: id) { status = TransferStatus(of: id, in: center) }
///     }
/// }
/// ```
///
/// It follows the transfer as long as it is held, through all that becomes of it: also when it goes on after a failure,
/// and when it is forgotten and another one has its id.
@MainActor
@Observable
public final class TransferStatus {
    /// The id of the transfer.
    @ObservationIgnored public let id: String
    /// Where the transfer stands. Nil if there is none of this id, and when it is forgotten. It stays what it was when
    /// the center is closed.
    public private(set) var state: TransferState?

    /// How far the transfer has come, as long as it isn't over.
    public var progress: TransferProgress? { state?.progress }

    @ObservationIgnored private let follower = Follower()

    /// Follows a transfer of a center, also one that is still to come.
    public init(of id: String, in center: TransferCenter) {
        self.id = id
        state = center.state(of: id)
        let lives = center.lives(of: id)
        follower.keep(
            Task { @MainActor [weak self] in
                while let states = await lives.next() {
                    for await state in states {
                        guard let self else { return }
                        self.state = state
                    }
                    if !Task.isCancelled { self?.state = lives.state }
                }
                // The center may have been closed before anything was heard.
                if !Task.isCancelled { self?.state = lives.state }
            })
    }
}

/// Ends a task when it goes.
private final class Follower: Sendable {
    private let task = Locked<Task<Void, Never>?>(nil)

    func keep(_ task: Task<Void, Never>) {
        self.task.withLock { $0 = task }
    }

    deinit { task.withLock { $0 }?.cancel() }
}
