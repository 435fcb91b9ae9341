public import IDMCore

/// Checks that a provider of yours keeps the contract of all providers.
///
/// ```swift
/// try await DataProviderContract.check(input: "apple") { UserDataProvider() }
/// ```
///
/// | rule | what is checked |
/// |---|---|
/// | ``Rule/answersOnce`` | a request ends, with one value or one error, and not as cancelled |
/// | ``Rule/reactsToCancel`` | a request that is cancelled before it begins, or while it runs, ends without a value |
/// | ``Rule/answersConcurrentRequests`` | twenty requests at once all end with their own answers, also if some are cancelled |
/// | ``Rule/isReleased`` | after its requests, nothing holds a provider that is an object |
///
/// A callback provider is asked with a callback. Without a cancel handler it can't be cancelled, which is no violation.
/// The first value of a stream is its answer, and it may go on until it is cancelled. A request that ends before it is
/// cancelled is no violation, and a provider may fail.
///
/// The check asks real providers, so its limits are upper bounds in real time, which a provider that keeps the contract
/// doesn't use up. With a ``ManualClock`` the check runs in the time of the test.
public enum DataProviderContract {
    /// A rule for providers.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// A request ends with one value or one error, and as cancelled only if it was cancelled. A callback provider
        /// calls back once. A stream delivers a value before it ends, or an error.
        case answersOnce
        /// A cancelled request ends soon. If it still ran, it ends without a value, in one of three tries at least: a
        /// value may be on its way when the cancel comes.
        case reactsToCancel
        /// Twenty requests at once all end, and a cancel of some requests ends no other request. If the check has several
        /// inputs, each request gets the answer that its input gets alone.
        case answersConcurrentRequests
        /// The provider is released after its requests have ended or were cancelled.
        case isReleased
    }

    /// A rule that a provider breaks.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The rule.
        public let rule: Rule
        /// The expected and the observed behavior.
        public let message: String

        /// The rule and the message.
        public var description: String { "\(rule): \(message)" }
    }

    /// The time that a check waits before something counts as missing.
    public struct Limits: Sendable {
        /// The limit for an answer.
        public var answer: Duration
        /// The limit for the end of a cancelled request.
        public var cancel: Duration
        /// The time that a request runs before it is cancelled.
        public var beforeCancel: Duration
        /// The clock of the limits. Run a check with a ``ManualClock`` in a task with ``ManualClock/executor``.
        public var clock: any Clock<Duration>

        /// Makes limits.
        public init(
            answer: Duration = .seconds(10), cancel: Duration = .seconds(2),
            beforeCancel: Duration = .milliseconds(20), clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.answer = answer
            self.cancel = cancel
            self.beforeCancel = beforeCancel
            self.clock = clock
        }
    }

    /// Checks a provider with one input, and records a failure for each rule that it breaks.
    ///
    /// - Parameters:
    ///   - input: The input of all requests.
    ///   - limits: How long the check waits.
    ///   - rules: The rules that are checked.
    ///   - make: Makes a new provider that nothing else holds. Called several times.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Returns: The violations, which have been recorded.
    /// - Throws: The error of `make`; `CancellationError`, if the task is cancelled.
    @discardableResult
    public static func check<Provider: DataProvider>(
        input: Provider.Input, limits: Limits = Limits(), rules: Set<Rule> = Set(Rule.allCases),
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable () throws -> Provider
    ) async throws -> [Violation] {
        let check = ContractCheck(inputs: [input], isEqual: nil, limits: limits, make: make)
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await run(check, rules, place)
    }

    /// Checks a provider with several inputs, whose answers must not be mixed up. For providers whose answer depends on
    /// the input alone.
    ///
    /// ```swift
    /// try await DataProviderContract.check(inputs: "apple", "pear") { UserDataProvider() }
    /// ```
    @discardableResult
    public static func check<Provider: DataProvider>(
        inputs input: Provider.Input, _ others: Provider.Input..., limits: Limits = Limits(),
        rules: Set<Rule> = Set(Rule.allCases),
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable () throws -> Provider
    ) async throws -> [Violation] where Provider.Output: Equatable {
        let check = ContractCheck(inputs: [input] + others, isEqual: { $0 == $1 }, limits: limits, make: make)
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await run(check, rules, place)
    }

    private static func run<Provider>(
        _ check: ContractCheck<Provider>, _ rules: Set<Rule>, _ place: SourcePlace
    ) async throws -> [Violation] {
        let collector = FailureCollector.current
        var violations: [Violation] = []
        for rule in Rule.allCases where rules.contains(rule) {
            let message = try await check.violation(of: rule)
            try Task.checkCancellation()
            guard let message else { continue }
            let violation = Violation(rule: rule, message: message)
            violations.append(violation)
            collector.record("\(Provider.self) breaks the contract of providers, \(violation).", at: place)
            // A request that doesn't end alone would only use up the limits of the other rules.
            if rule == .answersOnce { break }
        }
        return violations
    }
}
