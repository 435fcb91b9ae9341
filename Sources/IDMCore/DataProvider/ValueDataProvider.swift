/// A provider that answers every request at once with the same value.
///
/// ```swift
/// let defaults = ValueDataProvider<Void, Settings>(.standard)
/// ```
public struct ValueDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    /// The answer to every request.
    public let value: Output

    /// Creates a provider that answers with `value`, whatever the input is.
    @inlinable
    public init(_ value: Output) {
        self.value = value
    }

    /// Returns the value.
    @inlinable
    public func request(_ input: Input) async throws -> Output {
        value
    }
}

extension ValueDataProvider where Input == Void {
    /// Creates a provider without input that answers with `value`.
    @inlinable
    public init(_ value: Output) {
        self.value = value
    }
}
