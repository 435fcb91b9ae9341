/// A provider made from a closure.
///
/// ```swift
/// let doubled = ClosureDataProvider { (number: Int) in number * 2 }
/// ```
///
/// The closure runs on the caller's actor, unless it has a capture list: the compiler then sends it to the
/// concurrent pool. Where that matters, write a type that conforms to ``DataProvider`` instead.
public struct ClosureDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    @usableFromInline let body: @Sendable (Input) async throws -> Output

    /// Makes a provider that answers with what the closure returns or throws.
    @inlinable
    public init(_ body: @escaping @Sendable (Input) async throws -> Output) {
        self.body = body
    }

    /// Calls the closure.
    @inlinable
    public func request(_ input: Input) async throws -> Output {
        try await body(input)
    }

    /// The closure, by what it makes of what.
    public var structure: ProviderStructure { .provider("closure: \(Input.self) → \(Output.self)") }
}
