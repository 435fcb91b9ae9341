public import IDMCore

/// A provider that returns prepared answers.
///
/// ```swift
/// let always = StubDataProvider<String, [String]>(["Ada"])
/// let failing = StubDataProvider<String, [String]>(failing: Offline())
/// let inOrder = StubDataProvider<Int, String>(answers: [.success("first"), .failure(Offline())])
/// let computed = StubDataProvider { (id: Int) in "user \(id)" }
/// let never = StubDataProvider<Int, String>.unexpected()
/// ```
///
/// A request for which there is no answer left is a failure at the line of the stub, and throws that ``TestFailure``. A
/// stub that was never asked, or that has answers left, is a failure at the end of the ``TestScope``, or earlier with
/// ``verify()``. Each failure is reported once.
public final class StubDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    private enum Supply: Sendable {
        case endless(@Sendable (Input) async throws -> Output)
        case counted([Result<Output, any Error>])

        var expectation: Expectation {
            switch self {
            case .endless: Expectation(count: 1, words: "a request")
            case .counted(let answers): Expectation(count: answers.count, words: answers.count.requests)
            }
        }
    }

    /// The expected number of requests. The end of the scope keeps this, and not the answers.
    private struct Expectation {
        let count: Int
        let words: String
    }

    private struct Use {
        var requests = 0
        /// True if the missing requests have been reported.
        var isReported = false
    }

    private enum Answer: Sendable {
        case compute(@Sendable (Input) async throws -> Output)
        case given(Result<Output, any Error>)
        case exhausted(TestFailure)
    }

    private let supply: Supply
    private let use = Observed(Use())
    private let place: SourcePlace
    private let collector: FailureCollector

    private init(_ supply: Supply, _ place: SourcePlace) {
        self.supply = supply
        self.place = place
        collector = .current
        let expected = supply.expectation
        collector.atEnd(EndCheck(.expectations) { [use] in Self.leftovers(of: expected, use, at: place) })
    }

    /// Makes a provider that answers every request with a value.
    // Disfavored: a closure that computes answers would be taken for the value itself.
    @_disfavoredOverload
    public convenience init(
        _ value: Output, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        self.init(
            .endless { _ in value }, SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// Makes a provider that fails every request with an error.
    public convenience init(
        failing error: any Error, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        self.init(
            .endless { _ in throw error }, SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// Makes a provider that answers each request with the next answer.
    public convenience init(
        answers: [Result<Output, any Error>], fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        self.init(.counted(answers), SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// Makes a provider that answers each request with the next value.
    public convenience init(
        values: [Output], fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        self.init(
            .counted(values.map { .success($0) }),
            SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// Makes a provider that answers with what the closure returns or throws.
    public convenience init(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ body: @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(.endless(body), SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// Makes a provider that answers with what the closure returns or throws.
    // For a closure that doesn't suspend: converted to an async one, it would be taken for the value itself.
    public convenience init(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ body: @escaping @Sendable (Input) throws -> Output
    ) {
        self.init(.endless(body), SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// Makes a provider that expects no request at all.
    public static func unexpected(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) -> StubDataProvider {
        StubDataProvider(answers: [], fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// A stub, named by its input and output.
    public var structure: ProviderStructure { .provider("stub: \(Input.self) → \(Output.self)") }

    /// The number of requests.
    public var requestCount: Int { use.value.requests }

    /// Returns the next answer. Records and throws a ``TestFailure`` if there is none.
    public func request(_ input: Input) async throws -> Output {
        switch next(input) {
        case .compute(let body): return try await body(input)
        case .given(let answer): return try answer.get()
        case .exhausted(let failure):
            collector.record(failure)
            throw failure
        }
    }

    /// Records a failure unless the stub was asked, and as often as it has answers.
    public func verify() {
        for failure in Self.leftovers(of: supply.expectation, use, at: place) { collector.record(failure) }
    }

    private func next(_ input: Input) -> Answer {
        let count = use.change { use in
            use.requests += 1
            return use.requests
        }
        switch supply {
        case .endless(let body): return .compute(body)
        case .counted(let answers) where count <= answers.count: return .given(answers[count - 1])
        case .counted(let answers):
            let expected =
                answers.isEmpty ? "expected no request" : "expected no more than \(answers.count.requests)"
            return .exhausted(TestFailure("The stub \(expected), and request \(count) came: \(input)", at: place))
        }
    }

    private static func leftovers(
        of expected: Expectation, _ use: Observed<Use>, at place: SourcePlace
    ) -> [TestFailure] {
        let came: Int? = use.change { use in
            guard use.requests < expected.count, !use.isReported else { return nil }
            use.isReported = true
            return use.requests
        }
        guard let came else { return [] }
        return [TestFailure("The stub expected \(expected.words), and \(came.orNone) came.", at: place)]
    }
}
