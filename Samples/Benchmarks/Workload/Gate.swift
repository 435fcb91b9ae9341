import Synchronization

/// A gate that is closed at first, and stays open once it is opened.
final class Gate: Sendable {
    private let isOpen = Atomic(false)
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// Waits while the gate is closed.
    nonisolated(nonsending) func pass() async {
        guard !isOpen.load(ordering: .acquiring) else { return }
        await withCheckedContinuation { continuation in
            let passes = waiting.withLock { waiting in
                guard !isOpen.load(ordering: .acquiring) else { return true }
                waiting.append(continuation)
                return false
            }
            if passes { continuation.resume() }
        }
    }

    /// Opens the gate and resumes all waiters.
    func open() {
        let passing = waiting.withLock { waiting in
            isOpen.store(true, ordering: .releasing)
            defer { waiting = [] }
            return waiting
        }
        for continuation in passing { continuation.resume() }
    }
}
