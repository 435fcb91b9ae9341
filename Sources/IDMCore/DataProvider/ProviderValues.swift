/// The values of one request of any provider: the one value of a plain provider, each value of a stream.
///
/// Compositions return this from `values(for:)`. The request is made with the first `next`, on the caller's actor, and
/// each iterator makes a request of its own.
public struct ProviderValues<Element: Sendable>: AsyncSequence {
    /// Returns the next value, or nil after the last. Called again only after it has returned.
    typealias Next = (isolated (any Actor)?) async throws -> Element?

    private let makeNext: () -> Next

    /// Creates the values of any provider for `input`.
    public init<P: DataProvider>(of provider: P, for input: P.Input) where P.Output == Element {
        if let stream = provider.stream {
            self.init(streaming: stream, for: input)
        } else {
            self.init {
                var isRequested = false
                return { _ in
                    guard !isRequested else { return nil }
                    isRequested = true
                    return try await provider.request(input)
                }
            }
        }
    }

    /// Creates the values of a stream for `input`.
    init<Input>(streaming stream: any StreamDataProvider<Input, Element>, for input: Input) {
        func next<P: StreamDataProvider>(_ stream: P, _ input: P.Input) -> ProviderValues<P.Output>.Next {
            var iterator: P.Values.AsyncIterator?
            return { isolation in
                // Made with the first value: the progress reporter is ambient then, and not before.
                if iterator == nil { iterator = stream.values(for: input).makeAsyncIterator() }
                return try await iterator?.next(isolation: isolation)
            }
        }
        self.init { next(stream, input) }
    }

    /// Creates the values that a function returns. Each iterator makes a function of its own.
    init(_ makeNext: @escaping () -> Next) { self.makeNext = makeNext }

    /// Returns an iterator with a request of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(step: makeNext()) }

    /// An iterator over the values of one request.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let step: Next

        /// Returns the next value, or nil after the last.
        public mutating func next() async throws -> Element? { try await step(#isolation) }

        /// Returns the next value, or nil after the last. A value that is ready is returned without a suspension.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await step(actor)
        }
    }

    /// Returns the values that a closure makes of these.
    func transformed<New: Sendable>(
        _ transform: @escaping @Sendable (Element) async throws -> New
    ) -> ProviderValues<New> {
        ProviderValues<New> { [self] in
            let next = makeNext()
            return { isolation in
                guard let value = try await next(isolation) else { return nil }
                return try await transform(value)
            }
        }
    }
}

@available(*, unavailable)
extension ProviderValues: Sendable {}

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
