/// Does something as it goes.
package final class Going: Sendable {
    private let body: @Sendable () -> Void

    package init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    deinit { body() }
}
