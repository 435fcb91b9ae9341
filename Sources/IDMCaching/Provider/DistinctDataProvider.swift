public import IDMCore

/// A stream without the values that say nothing new. Made by `removingDuplicates()`.
public struct DistinctDataProvider<Base: StreamDataProvider>: StreamDataProvider {
    private let base: Base
    private let isSame: @Sendable (Base.Output, Base.Output) -> Bool

    /// Makes a stream without the values that are the same as the one before.
    public init(_ base: Base, by isSame: @escaping @Sendable (Base.Output, Base.Output) -> Bool) {
        self.base = base
        self.isSame = isSame
    }

    /// The last value of the base. It says as much as the one that stands for it.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await base.request(input)
    }

    /// The values of the base, without those that are the same as the one before.
    public func values(for input: Base.Input) -> DistinctValues<Base.Values> {
        DistinctValues(base: base.values(for: input), isSame: isSame)
    }

    /// The base, without what says nothing new.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "without duplicates") }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.deliversMany }
}

/// The values of a sequence, without those that are the same as the one before.
public struct DistinctValues<Base: AsyncSequence>: AsyncSequence {
    let base: Base
    let isSame: @Sendable (Base.Element, Base.Element) -> Bool

    /// Starts a walk through the values.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), isSame: isSame)
    }

    /// Walks through the values.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let isSame: @Sendable (Base.Element, Base.Element) -> Bool
        var last: Base.Element?

        /// The next value that is not the same as the last.
        public mutating func next() async throws -> Base.Element? {
            try await next(isolation: #isolation)
        }

        /// The next value that is not the same as the last. One that is there at once comes without a suspension.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Base.Element? {
            while let value = try await base.next(isolation: actor) {
                if let last, isSame(last, value) { continue }
                last = value
                return value
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension DistinctValues: Sendable {}

extension StreamDataProvider {
    /// This stream without the values that equal the one before: a screen that shows an entry doesn't hear of an answer
    /// that says the same.
    public func removingDuplicates() -> DistinctDataProvider<Self> where Output: Equatable {
        DistinctDataProvider(self) { $0 == $1 }
    }

    /// This stream without the values that are the same as the one before.
    public func removingDuplicates(
        by isSame: @escaping @Sendable (Output, Output) -> Bool
    ) -> DistinctDataProvider<Self> {
        DistinctDataProvider(self, by: isSame)
    }
}
