import TestSupport

@testable import IDMOperations

/// Opens once, for threads and for tasks.
final class Gate: Sendable {
    private let threads = ThreadGate()
    private let tasks = Signal()

    func open() {
        threads.open()
        tasks.open()
    }

    /// Stands still until it is open. For threads that are nobody's.
    func wait() {
        threads.wait()
    }

    func opened() async {
        await tasks.waitIgnoringCancel()
    }
}
