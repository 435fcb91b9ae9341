/// Calls back when it is released, and with it the closure or object that holds it.
package final class DeinitObserver: Sendable {
    private let whenGone: @Sendable () -> Void

    package init(_ whenGone: @escaping @Sendable () -> Void) {
        self.whenGone = whenGone
    }

    deinit {
        whenGone()
    }
}
