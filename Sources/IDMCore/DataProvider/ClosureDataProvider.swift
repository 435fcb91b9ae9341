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
    public init(_ body: @escaping @Sendable (Input) async throws -> Output) {
        self.body = body
    }

    /// Calls the closure.
    @inlinable
    public func request(_ input: Input) async throws -> Output {
        try await body(input)
    }

    /// The types of the closure's input and output.
    public var structure: ProviderStructure { .provider("closure: \(Input.self) → \(Output.self)") }
}
