import IDMTesting

/// A latch: closed until it is opened, and open from then on.
package final class Signal: Sendable {
    private let isOpened = Observed(false)

    package init() {}

    package var isOpen: Bool { isOpened.value }

    package func open() {
        isOpened.change { $0 = true }
    }

    /// Waits until it is open. Throws when the task that waits is cancelled.
    package func wait() async throws {
        try await isOpened.wait { $0 }
    }

    /// Waits until it is open, whether the task is cancelled or not.
    package func waitIgnoringCancel() async {
        try? await isOpened.wait(ignoringCancel: true) { $0 }
    }
}
