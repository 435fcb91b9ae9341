/// A source of original data. Knows nothing of models, integrators or screens.
///
/// A provider answers each request once, with a value or with an error. Conform a type that has the data or knows where
/// to get it. Models, executing types and handlers are added around it.
///
/// ```swift
/// struct UserDataProvider: DataProvider {
///     func request(_ query: String) async throws -> [String] {
///         try await directory.users(matching: query)
///     }
/// }
/// ```
///
/// A request runs on the caller's actor, and several may run at once. When the requesting task is cancelled, a provider
/// should throw soon. If it ignores the cancel, its answer is discarded.
public protocol DataProvider<Input, Output>: Sendable {
    // The defaults make a type without a `request(_:)` fail with the message of the unavailable default below.

    /// The value that a request is made with. `Void` for a provider without input.
    associatedtype Input: Sendable = Void
    /// The value that a request returns.
    associatedtype Output: Sendable = Never

    /// Fetches the data for `input`. Returns or throws once.
    func request(_ input: Input) async throws -> Output

    /// A description of the parts that the provider is made of. By default, the name of its type.
    var structure: ProviderStructure { get }

    // The next two are requirements for speed, and implemented for all providers. Without them the benchmark row
    // "sequence of ten" takes 1.7 times as long as ten awaits, and with `_request` alone 3.3 times.

    /// The number of stages that the provider counts for in a sequence. Only sequences count for more than one.
    static var _stageCount: Int { get }

    /// Makes a request whose progress goes to `reporter`, or to the ambient reporter if that is nil. The stages of a
    /// sequence don't look it up again.
    func _request(_ input: Input, reporter: IntegrationProgress.Reporter?) async throws -> Output
}

extension DataProvider {
    /// Fetches the data of a provider without input.
    @inlinable
    public func request() async throws -> Output where Input == Void { try await request(()) }

    /// Reports a conformance that lacks the one requirement.
    @available(
        *, unavailable,
        message: """
            A provider implements 'func request(_ input: Input) async throws -> Output' with Sendable types. \
            Without input it is 'func request(_ input: Void) async throws -> Output', called as 'request()'.
            """
    )
    public func request(_ input: Input) async throws -> Output {
        throw DataProviderError.noAnswer
    }

    @inlinable
    public static var _stageCount: Int { 1 }

    @inlinable @inline(__always)
    public func _request(_ input: Input, reporter: IntegrationProgress.Reporter?) async throws -> Output {
        guard let reporter else { return try await request(input) }
        return try await reporter.ambient { try await request(input) }
    }
}
