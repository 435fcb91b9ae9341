/// Tells when it goes. What holds it, a closure for one, has gone by then.
package final class Canary: Sendable {
    private let whenGone: @Sendable () -> Void

    package init(_ whenGone: @escaping @Sendable () -> Void) {
        self.whenGone = whenGone
    }

    deinit {
        whenGone()
    }
}
