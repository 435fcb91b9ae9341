import Synchronization

/// Counts the ends of operations on any thread, and resumes its waiter after the last one.
final class Tally: Sendable {
    private let expected: Int
    private let ended = Atomic(0)
    private let total = Atomic(0)
    private let most = Atomic(-1)
    private let everything = Gate()

    init(expecting expected: Int) {
        self.expected = expected
    }

    /// Counts an operation that ended with a value.
    func add(_ value: Int) {
        total.add(value, ordering: .relaxed)
        most.max(value, ordering: .relaxed)
        end()
    }

    /// Counts an operation that ended without a value.
    func skip() {
        end()
    }

    /// Waits until all operations have ended.
    func finish() async {
        await everything.pass()
    }

    /// Waits until all operations have ended, and returns the sum of their values.
    ///
    /// - Parameter source: An object that stays alive until then, because the operations need it.
    func sum(keeping source: (any AnyObject)? = nil) async -> Int {
        await finish()
        return withExtendedLifetime(source) { total.load(ordering: .relaxed) }
    }

    /// Waits until all operations have ended, and returns the greatest of their values.
    ///
    /// - Parameter source: An object that stays alive until then, because the operations need it.
    func greatest(keeping source: (any AnyObject)? = nil) async -> Int {
        await finish()
        return withExtendedLifetime(source) { most.load(ordering: .relaxed) }
    }

    private func end() {
        if ended.add(1, ordering: .acquiringAndReleasing).newValue == expected { everything.open() }
    }
}
