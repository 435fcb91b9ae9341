/// The values of one request, whatever the provider: one value of a plain provider, each value of a stream.
///
/// The compositions return this from `values(for:)`. It asks its provider at the first `next`, on the caller's actor,
/// and each iterator is a request of its own.
public struct ProviderValues<Element: Sendable>: AsyncSequence {
    private let makeCursor: () -> any ValueCursor<Element>

    /// The values of a provider for an input.
    public init<P: DataProvider>(of provider: P, for input: P.Input) where P.Output == Element {
        makeCursor = {
            if let stream = provider.stream {
                return streamCursor(stream, input)
            }
            return SingleCursor(provider: provider, input: input)
        }
    }

    /// The values of a stream for an input.
    init<Input>(streaming stream: any StreamDataProvider<Input, Element>, for input: Input) {
        makeCursor = { streamCursor(stream, input) }
    }

    /// Values that a cursor produces. Each iterator makes a cursor of its own.
    init(_ makeCursor: @escaping () -> any ValueCursor<Element>) {
        self.makeCursor = makeCursor
    }

    /// Starts a walk through the values, with a request of its own.
    public func makeAsyncIterator() -> Iterator {
        Iterator(cursor: makeCursor())
    }

    /// Walks through the values of one request.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var cursor: any ValueCursor<Element>

        /// The next value, or nil after the last.
        public mutating func next() async throws -> Element? {
            try await cursor.next(isolation: #isolation)
        }

        /// The next value, or nil after the last. One that is there at once comes without a suspension.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await cursor.next(isolation: actor)
        }
    }
}

/// The values of a provider, of which there has to be one: an end before the first is ``DataProviderError/noAnswer``,
/// as it is for whoever asks for one value.
struct AnsweringValues<Element: Sendable> {
    private var values: ProviderValues<Element>.Iterator
    private(set) var hasAnswered = false

    init<P: DataProvider>(of provider: P, for input: P.Input) where P.Output == Element {
        values = ProviderValues(of: provider, for: input).makeAsyncIterator()
    }

    /// The next value, or nil after the last.
    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
        let value = try await values.next(isolation: isolation)
        if value == nil && !hasAnswered {
            // Many sequences simply end when their task is cancelled; that is no failure.
            try Task.checkCancellation()
            throw DataProviderError.noAnswer
        }
        hasAnswered = true
        return value
    }
}

extension ProviderValues {
    /// The same values, without their type.
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

/// Where the values of ``ProviderValues`` come from. Asked again only after it has answered.
protocol ValueCursor<Element> {
    associatedtype Element: Sendable
    mutating func next(isolation: isolated (any Actor)?) async throws -> Element?
}

extension DataProvider {
    /// This provider as a stream, if more than one value may come from it.
    var stream: (any StreamDataProvider<Input, Output>)? {
        // First without the types of input and output: to look for those as well takes the runtime a hundred times as
        // long. And first of all the type alone, which is asked the quickest: most providers are no streams.
        guard type(of: self) is any StreamDataProvider.Type else { return nil }
        guard let stream = self as? any StreamDataProvider, stream.deliversMany else { return nil }
        return self as? any StreamDataProvider<Input, Output>
    }
}

private func streamCursor<P: StreamDataProvider>(_ provider: P, _ input: P.Input) -> any ValueCursor<P.Output> {
    StreamCursor(provider: provider, input: input)
}

/// Asks for the values with the first of them: whoever hears the progress of the stream is ambient then, and not
/// before.
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
    var isAsked = false

    mutating func next(isolation: isolated (any Actor)?) async throws -> P.Output? {
        guard !isAsked else { return nil }
        isAsked = true
        return try await provider.request(input)
    }
}
