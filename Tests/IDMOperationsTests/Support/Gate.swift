import Synchronization

@testable import IDMOperations

/// Opens once, for threads and for tasks.
final class Gate: Sendable {
    private let threads = ThreadGate()
    private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func open() {
        threads.open()
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Stands still until it is open. For threads that are nobody's.
    func wait() {
        threads.wait()
    }

    func opened() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// What a thread has come to.
final class Kept<Value: Sendable>: Sendable {
    private let gate = Gate()
    private let state = Mutex<Value?>(nil)

    func keep(_ value: Value?) {
        state.withLock { $0 = value }
        gate.open()
    }

    func value() async -> Value? {
        await gate.opened()
        return state.withLock { $0 }
    }
}
