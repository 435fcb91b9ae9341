public import IDMCore

/// A provider that gives prepared answers.
///
/// ```swift
/// let always = StubDataProvider<String, [String]>(["Ada"])
/// let failing = StubDataProvider<String, [String]>(failing: Offline())
/// let inOrder = StubDataProvider<Int, String>(answers: [.success("first"), .failure(Offline())])
/// let computed = StubDataProvider { (id: Int) in "user \(id)" }
/// let never = StubDataProvider<Int, String>.unexpected()
/// ```
///
/// A request more than it has answers for is a failure, with the line where the stub was made, and throws that
/// ``TestFailure``. So is, at the end of the ``TestScope``, a stub that was never asked, or that has answers left;
/// ``verify()`` asks for that at once.
public final class StubDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    private enum Supply: Sendable {
        case endless(@Sendable (Input) async throws -> Output)
        case counted([Result<Output, any Error>])
    }

    private enum Answer: Sendable {
        case compute(@Sendable (Input) async throws -> Output)
        case given(Result<Output, any Error>)
        case exhausted(TestFailure)
    }

    private let supply: Supply
    private let asked = Watched(0)
    private let place: SourcePlace
    private let ledger: FailureLedger

    private init(_ supply: Supply, _ place: SourcePlace) {
        self.supply = supply
        self.place = place
        ledger = .current
        ledger.atEnd { [supply, asked] in Self.leftovers(of: supply, asked.value, at: place) }
    }

    /// Makes a provider that answers every request with a value.
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

    /// A provider that isn't to be asked at all.
    public static func unexpected(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) -> StubDataProvider {
        StubDataProvider(answers: [], fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// How many requests have been made.
    public var requestCount: Int { asked.value }

    /// Gives the next answer. Throws ``TestFailure``, and records it, if there is none.
    public func request(_ input: Input) async throws -> Output {
        switch next(input) {
        case .compute(let body): return try await body(input)
        case .given(let answer): return try answer.get()
        case .exhausted(let failure):
            ledger.record(failure)
            throw failure
        }
    }

    /// Fails unless the stub has been used up: asked at all, and as often as it has answers.
    public func verify() {
        for failure in Self.leftovers(of: supply, asked.value, at: place) { ledger.record(failure) }
    }

    private func next(_ input: Input) -> Answer {
        let count = asked.change { count in
            count += 1
            return count
        }
        switch supply {
        case .endless(let body): return .compute(body)
        case .counted(let answers) where count <= answers.count: return .given(answers[count - 1])
        case .counted(let answers):
            let expected =
                answers.isEmpty ? "expected no request" : "expected no more than \(answers.requests)"
            return .exhausted(TestFailure("The stub \(expected), and request \(count) came: \(input)", at: place))
        }
    }

    private static func leftovers(of supply: Supply, _ asked: Int, at place: SourcePlace) -> [TestFailure] {
        switch supply {
        case .endless where asked == 0:
            [TestFailure("The stub expected a request, and none came.", at: place)]
        case .counted(let answers) where asked < answers.count:
            [TestFailure("The stub expected \(answers.requests), and \(asked) came.", at: place)]
        default: []
        }
    }
}

extension Array {
    /// The count, with the word.
    fileprivate var requests: String { count == 1 ? "1 request" : "\(count) requests" }
}
