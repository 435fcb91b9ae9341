/// A provider made from a closure.
///
/// ```swift
/// let doubled = ClosureDataProvider { (number: Int) in number * 2 }
/// ```
///
/// The closure runs on the caller's actor. With a capture list it runs on the concurrent pool, by a rule of the
/// compiler; where that matters, write a type that conforms to ``DataProvider``.
public struct ClosureDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    @usableFromInline let body: @Sendable (Input) async throws -> Output

    /// Creates a provider that answers with the closure's result or error.
    @inlinable
    public init(_ body: @escaping @Sendable (Input) async throws -> Output) { self.body = body }

    @inlinable
    public func request(_ input: Input) async throws -> Output { try await body(input) }

    public var structure: ProviderStructure { .provider("closure: \(Input.self) → \(Output.self)") }
}

/// A provider that answers every request at once with the same value.
///
/// ```swift
/// let defaults = ValueDataProvider<Void, Settings>(.standard)
/// ```
public struct ValueDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    /// The answer to every request.
    public let value: Output

    /// Creates a provider that answers with `value`, whatever the input is.
    public init(_ value: Output) { self.value = value }

    public func request(_ input: Input) async throws -> Output { value }
}

extension ValueDataProvider where Input == Void {
    /// Creates a provider without input that answers with `value`.
    public init(_ value: Output) { self.value = value }
}
