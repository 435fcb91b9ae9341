import Synchronization

/// Counts how operations end, on any thread, and says when all have.
final class Tally: Sendable {
    private let expected: Int
    private let ended = Atomic(0)
    private let total = Atomic(0)
    private let most = Atomic(-1)
    private let everything = Gate()

    init(expecting expected: Int) {
        self.expected = expected
    }

    /// An operation has ended with a value.
    func add(_ value: Int) {
        total.add(value, ordering: .relaxed)
        most.max(value, ordering: .relaxed)
        end()
    }

    /// An operation has ended without one.
    func skip() {
        end()
    }

    /// Waits until all operations have ended.
    func finish() async {
        await everything.pass()
    }

    /// The sum of the values, once all operations have ended.
    ///
    /// - Parameter source: What the operations need somebody to hold until then.
    func sum(keeping source: (any AnyObject)? = nil) async -> Int {
        await finish()
        return withExtendedLifetime(source) { total.load(ordering: .relaxed) }
    }

    /// The greatest of the values, once all operations have ended.
    ///
    /// - Parameter source: What the operations need somebody to hold until then.
    func greatest(keeping source: (any AnyObject)? = nil) async -> Int {
        await finish()
        return withExtendedLifetime(source) { most.load(ordering: .relaxed) }
    }

    private func end() {
        if ended.add(1, ordering: .acquiringAndReleasing).newValue == expected { everything.open() }
    }
}
