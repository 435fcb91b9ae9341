/// A provider that may answer with more than one value: a cache and then the network, a database, a socket.
///
/// An integrator delivers each value in turn. Where one value is requested, as by ``DataProvider/request(_:)``, the
/// answer is the last value. A stream that ends without a value fails with ``DataProviderError/noAnswer``.
public protocol StreamDataProvider<Input, Output>: DataProvider {
    associatedtype Input
    associatedtype Output
    /// The values of one request.
    associatedtype Values: AsyncSequence where Values.Element == Output

    /// The values for `input`, in order. Nothing is fetched before the first value is awaited, and each returned
    /// sequence is a request of its own.
    func values(for input: Input) -> Values

    /// True if more than one value may come. True by default. A composition answers for its parts: `stream.map { … }`
    /// may deliver many values, `single.map { … }` never does.
    var deliversMany: Bool { get }
}

extension StreamDataProvider {
    /// Returns the last value for `input`.
    public func request(_ input: Input) async throws -> Output {
        try await values(for: input).lastValue()
    }

    /// True: a stream delivers many values unless it says otherwise.
    @inlinable
    public var deliversMany: Bool { true }
}

/// A stream made from any asynchronous sequence.
///
/// ```swift
/// let messages = AsyncSequenceDataProvider { (room: String) in socket.messages(in: room) }
/// ```
public struct AsyncSequenceDataProvider<Input: Sendable, Values: AsyncSequence>: StreamDataProvider
where Values.Element: Sendable {
    private let makeValues: @Sendable (Input) -> Values

    /// Creates a stream of the sequence that `makeValues` returns. The closure is called once a request.
    public init(_ makeValues: @escaping @Sendable (_ input: Input) -> Values) {
        self.makeValues = makeValues
    }

    /// Creates a stream without input of the sequence that `makeValues` returns. The closure is called once a request.
    public init(_ makeValues: @escaping @Sendable () -> Values) where Input == Void, Values: SendableMetatype {
        self.makeValues = { _ in makeValues() }
    }

    public func values(for input: Input) -> Values { makeValues(input) }
    public var structure: ProviderStructure { .provider("sequence: \(Input.self) → \(Values.Element.self)") }
}

extension AsyncSequence where Element: Sendable {
    /// The last element, once the sequence has ended.
    package func lastValue(isolation: isolated (any Actor)? = #isolation) async throws -> Element {
        var last: Element?
        var iterator = makeAsyncIterator()
        while let value = try await iterator.next(isolation: isolation) {
            last = value
        }
        // Many sequences end without an error when their task is cancelled. That is not an answer.
        try Task.checkCancellation()
        guard let last else { throw DataProviderError.noAnswer }
        return last
    }
}
