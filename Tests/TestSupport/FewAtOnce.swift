package import Testing

/// Lets few of the tests that have this trait run at once.
///
/// For tests that have connections or files open. All tests start together, and each of these would have its
/// descriptors at the same time: thousands in all, where a shell may give a process 1,024 of them, or 256.
///
/// On the suite, it stands before ``OffThePool``: where all take their seats in one order, none waits for one that
/// waits for it.
package struct FewAtOnce: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true
    fileprivate static let most = 8
    private static let seats = Seats(most)
    /// The number of seats that a test takes.
    fileprivate let count: Int

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        // All at once, those of the suite and its own: who has some and waits for others could wait for ever.
        let counts = test.traits.compactMap { ($0 as? Self)?.count }
        try await Self.seats.run(counts.max() ?? count) { try await function() }
    }
}

extension Trait where Self == FewAtOnce {
    /// For whatever opens connections or files. See ``FewAtOnce``.
    package static var fewAtOnce: Self { Self(count: 1) }
    /// For a test that opens a hundred connections or more: no other test of the trait runs at the same time.
    package static var oneAtATime: Self { Self(count: FewAtOnce.most) }
}
