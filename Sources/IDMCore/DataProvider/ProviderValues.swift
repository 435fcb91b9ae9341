/// The values of one request of any provider: the one value of a plain provider, each value of a stream.
///
/// Compositions return this from `values(for:)`. The request is made with the first `next`, on the caller's actor, and
/// each iterator makes a request of its own.
public struct ProviderValues<Element: Sendable>: AsyncSequence {
    private let makeCursor: () -> any ValueCursor<Element>

    /// Creates the values of any provider for `input`.
    public init<P: DataProvider>(of provider: P, for input: P.Input) where P.Output == Element {
        makeCursor = {
            if let stream = provider.stream {
                return streamCursor(stream, input)
            }
            return SingleCursor(provider: provider, input: input)
        }
    }

    /// Creates the values of a stream for `input`.
    init<Input>(streaming stream: any StreamDataProvider<Input, Element>, for input: Input) {
        makeCursor = { streamCursor(stream, input) }
    }

    /// Creates the values that a cursor produces. Each iterator makes a cursor of its own.
    init(_ makeCursor: @escaping () -> any ValueCursor<Element>) {
        self.makeCursor = makeCursor
    }

    /// Returns an iterator with a request of its own.
    public func makeAsyncIterator() -> Iterator {
        Iterator(cursor: makeCursor())
    }

    /// An iterator over the values of one request.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var cursor: any ValueCursor<Element>

        /// Returns the next value, or nil after the last.
        public mutating func next() async throws -> Element? {
            try await cursor.next(isolation: #isolation)
        }

        /// Returns the next value, or nil after the last. A value that is ready is returned without a suspension.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await cursor.next(isolation: actor)
        }
    }
}

/// The values of a provider, of which there must be at least one: an end before the first value is
/// ``DataProviderError/noAnswer``, as it is for ``DataProvider/request(_:)``.
struct AnsweringValues<Element: Sendable> {
    private var values: ProviderValues<Element>.Iterator
    private(set) var hasAnswered = false

    init<P: DataProvider>(of provider: P, for input: P.Input) where P.Output == Element {
        values = ProviderValues(of: provider, for: input).makeAsyncIterator()
    }

    /// Returns the next value, or nil after the last.
    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
        let value = try await values.next(isolation: isolation)
        if value == nil && !hasAnswered {
            // Many sequences end without an error when their task is cancelled. That is not a missing answer.
            try Task.checkCancellation()
            throw DataProviderError.noAnswer
        }
        hasAnswered = true
        return value
    }
}

extension ProviderValues {
    /// Returns the same values with their type erased.
    func erased() -> ProviderValues<any Sendable> {
        ProviderValues<any Sendable> { ErasedCursor(base: makeCursor()) }
    }
}

private struct ErasedCursor<Base: Sendable>: ValueCursor {
    var base: any ValueCursor<Base>

    mutating func next(isolation: isolated (any Actor)?) async throws -> (any Sendable)? {
        try await base.next(isolation: isolation)
    }
}

@available(*, unavailable)
extension ProviderValues: Sendable {}

/// The source of ``ProviderValues``. The next value is requested only after the last one has been returned.
protocol ValueCursor<Element> {
    associatedtype Element: Sendable
    mutating func next(isolation: isolated (any Actor)?) async throws -> Element?
}

extension DataProvider {
    /// This provider as a stream, or nil if it delivers a single value.
    var stream: (any StreamDataProvider<Input, Output>)? {
        // First the conformance of the type, which is the fastest check: most providers are not streams. Then without
        // the types of input and output: a cast with those takes the runtime a hundred times as long.
        guard type(of: self) is any StreamDataProvider.Type else { return nil }
        guard let stream = self as? any StreamDataProvider, stream.deliversMany else { return nil }
        return self as? any StreamDataProvider<Input, Output>
    }
}

private func streamCursor<P: StreamDataProvider>(_ provider: P, _ input: P.Input) -> any ValueCursor<P.Output> {
    StreamCursor(provider: provider, input: input)
}

/// The values of a stream. The sequence is made with the first `next`, because the progress reporter is ambient then, and
/// not before.
private struct StreamCursor<P: StreamDataProvider>: ValueCursor {
    let provider: P
    let input: P.Input
    var iterator: P.Values.AsyncIterator?

    mutating func next(isolation: isolated (any Actor)?) async throws -> P.Output? {
        if iterator == nil { iterator = provider.values(for: input).makeAsyncIterator() }
        return try await iterator?.next(isolation: isolation)
    }
}

private struct SingleCursor<P: DataProvider>: ValueCursor {
    let provider: P
    let input: P.Input
    var isRequested = false

    mutating func next(isolation: isolated (any Actor)?) async throws -> P.Output? {
        guard !isRequested else { return nil }
        isRequested = true
        return try await provider.request(input)
    }
}
