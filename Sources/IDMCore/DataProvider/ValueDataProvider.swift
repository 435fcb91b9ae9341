/// A provider that answers every request at once, with the same value.
///
/// ```swift
/// let defaults = ValueDataProvider<Void, Settings>(.standard)
/// ```
public struct ValueDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    /// The answer to every request.
    public let value: Output

    /// Makes a provider that answers with a value, whatever the input is.
    @inlinable
    public init(_ value: Output) {
        self.value = value
    }

    /// Answers at once.
    @inlinable
    public func request(_ input: Input) async throws -> Output {
        value
    }
}

extension ValueDataProvider where Input == Void {
    /// Makes a provider that needs no input and answers with a value.
    @inlinable
    public init(_ value: Output) {
        self.value = value
    }
}
