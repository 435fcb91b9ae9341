package import Testing

/// Lets few of the tests that have this trait run at once.
///
/// For tests that have connections or files open. All tests start together, and each of these would have its
/// descriptors at the same time: thousands in all, where a shell may give a process 1,024 of them, or 256.
///
/// It stands before the other traits that take turns, on the suite: where all take their seats in one order, none waits
/// for one that waits for it.
package struct FewAtOnce: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true
    fileprivate static let few = Seats(8)
    fileprivate static let one = Seats(1)
    fileprivate let seats: Seats

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await seats.run { try await function() }
    }
}

extension Trait where Self == FewAtOnce {
    /// For whatever opens connections or files. See ``FewAtOnce``.
    package static var fewAtOnce: Self { Self(seats: FewAtOnce.few) }
    /// For a test of such a suite that opens about a hundred: one of these runs at a time, beside seven others.
    package static var oneAtATime: Self { Self(seats: FewAtOnce.one) }
}
