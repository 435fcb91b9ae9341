/// The start of the flow: fetches original data for an input and knows nothing of models or screens.
///
/// A provider answers each request once, with a value or with an error. Conform a type that already has the data at
/// hand, or that knows where to get it; everything else (models, executing types, handlers) is added around it.
///
/// ```swift
/// struct UserDataProvider: DataProvider {
///     func request(_ query: String) async throws -> [String] {
///         try await directory.users(matching: query)
///     }
/// }
/// ```
///
/// A provider is asked on the caller's actor and may be asked several times at once. When the task that asks is
/// cancelled, a good provider throws soon after; one that doesn't is left behind, and what it answers is not heard.
public protocol DataProvider<Input, Output>: Sendable {
    /// What a request is made with. `Void` for a provider that needs nothing.
    associatedtype Input: Sendable
    /// What a request is answered with.
    associatedtype Output: Sendable

    /// Fetches the data for an input. Answers once: by returning or by throwing.
    func request(_ input: Input) async throws -> Output

    /// How the provider is put together, to be looked at. By default the name of its type.
    var structure: ProviderStructure { get }

    /// How many stages of a sequence this provider stands for. Only sequences count more than one.
    static var _stageCount: Int { get }

    /// The request of a stage whose caller has already looked for the ambient progress reporter. A sequence looks
    /// once and hands what it found down this way, so that its stages don't look again.
    func _request(_ input: Input, reporter: IntegrationProgress.Reporter?) async throws -> Output

    /// The request in a task of its own, started side by side with others. A requirement, although every provider
    /// starts in the same way: a group knows its members only as a pack, in which nothing is specialized but this.
    func _start(
        _ input: Input, reporter: IntegrationProgress.Reporter?, linkedBy link: _TaskGroupLink,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error>
}

extension DataProvider {
    /// Fetches the data of a provider that needs no input.
    @inlinable
    public func request() async throws -> Output where Input == Void {
        try await request(())
    }

    /// One: only what is made of several stages counts more.
    @inlinable
    public static var _stageCount: Int { 1 }

    /// The plain request, with the reporter as the ambient one.
    @inlinable @inline(__always)
    public func _request(_ input: Input, reporter: IntegrationProgress.Reporter?) async throws -> Output {
        guard let reporter else { return try await request(input) }
        return try await reporter.ambient { try await request(input) }
    }
}
