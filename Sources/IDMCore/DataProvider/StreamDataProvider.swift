/// A provider that may answer with more than one value: cache and then network, a database that changes, a socket.
///
/// An integrator delivers each value in turn. Wherever one value is asked for, ``DataProvider/request(_:)`` among
/// them, the answer is the last value; a stream that ends without one fails with ``DataProviderError/noAnswer``.
public protocol StreamDataProvider<Input, Output>: DataProvider {
    associatedtype Input
    associatedtype Output
    /// The values of one request.
    associatedtype Values: AsyncSequence where Values.Element == Output

    /// The values for an input, in order. Nothing is fetched before the first value is awaited, and each sequence
    /// that is returned stands for one request of its own.
    func values(for input: Input) -> Values

    /// Whether more than one value may come. A composition answers for what it is made of: `stream.map { … }` may
    /// deliver many, `single.map { … }` never does. Everything else that is a stream delivers many.
    var deliversMany: Bool { get }
}

extension StreamDataProvider {
    /// The last value for an input.
    public func request(_ input: Input) async throws -> Output {
        try await values(for: input).lastValue()
    }

    /// True: a stream that says nothing else delivers many values.
    @inlinable
    public var deliversMany: Bool { true }
}

extension AsyncSequence where Element: Sendable {
    /// The last element, once the sequence has ended.
    package func lastValue(isolation: isolated (any Actor)? = #isolation) async throws -> Element {
        var last: Element?
        var iterator = makeAsyncIterator()
        while let value = try await iterator.next(isolation: isolation) {
            last = value
        }
        // Many sequences simply end when their task is cancelled; that is not an answer.
        try Task.checkCancellation()
        guard let last else { throw DataProviderError.noAnswer }
        return last
    }
}
