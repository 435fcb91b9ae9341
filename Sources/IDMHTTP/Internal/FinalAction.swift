internal import Synchronization

/// An action that runs once: when it is called, or at the latest when it is released.
final class FinalAction: Sendable {
    private let hasRun = Atomic(false)
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    deinit { run() }

    func run() {
        if !hasRun.exchange(true, ordering: .acquiringAndReleasing) { action() }
    }
}
