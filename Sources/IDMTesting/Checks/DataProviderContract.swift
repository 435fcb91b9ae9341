public import IDMCore

/// Holds a provider of yours against what the library expects of every provider.
///
/// ```swift
/// try await DataProviderContract.check(input: "apple") { UserDataProvider() }
/// ```
///
/// | rule | what is looked at |
/// |---|---|
/// | ``Rule/answersOnce`` | a request answers or fails, not as cancelled, and calls back once, if it does |
/// | ``Rule/hearsCancel`` | a request whose task is cancelled ends soon |
/// | ``Rule/answersNothingAfterCancel`` | it then doesn't answer with a value |
/// | ``Rule/takesConcurrentRequests`` | many requests at once, and later ones, all end, whoever else is cancelled |
/// | ``Rule/isReleased`` | after use, and after a cancel, nothing holds the provider; for a class, also an erased one |
///
/// A callback provider is asked with a callback, so that what its cancel handler does is seen; one that returns none
/// can't be cancelled, which breaks nothing. An erased one is asked as any other provider. Of a stream the first value
/// is an answer, and it need not end before it is cancelled. A request that ends before it is cancelled shows nothing
/// of a cancel, and breaks nothing. Answers that go to another request are seen where the inputs are several. A
/// provider may fail: one that lets in only one request at a time, and fails the others, breaks nothing. So may an
/// integrator end a request as superseded or as ignored, as its executing type says.
///
/// The battery asks real providers, so it measures real time, and only as an upper bound: what keeps the rules is
/// waited for as long as it takes, and longer in five cases only. A request is left alone for a moment before it is
/// cancelled. A callback provider that keeps a completion which it has called is given the time of a request to call
/// once more, and that of a cancel after each of two cancels and four times among many (six with several inputs). A
/// stream that goes on after its first value is given the time of a cancel to end, once alone and four times among many
/// (six). One that fails after a cancel is asked again after the time of a request. And one that answers with what
/// another input gets is asked again after a moment.
///
/// Where twenty requests at once take as long as one, it takes about the time of nine, one after the other. With
/// several inputs that is fourteen, and two more for each of them. Streams that end by themselves and requests that
/// fail take more: they are held against others of which nobody is cancelled. Where something is found that may be
/// chance, it looks more often.
///
/// A provider that blocks its thread blocks the battery. A stream that never suspends doesn't, but with it a
/// ``ManualClock`` is never at rest. Of data races the Thread Sanitizer knows more.
public enum DataProviderContract {
    /// What is expected of every provider.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// A request ends, with one value or one error, and as cancelled only if it was. A callback provider calls back
        /// once for each request. A stream doesn't end before its first value, unless with an error.
        case answersOnce
        /// A request whose task is cancelled while it runs ends soon. Three requests are looked at, one after the
        /// other.
        case hearsCancel
        /// A request that was cancelled while it ran doesn't end with a value, at three of five moments at least: one
        /// may be on its way when the cancel comes. A stream may deliver such a one each time, if it then ends because
        /// of the cancel: with an error, or before its last value.
        case answersNothingAfterCancel
        /// Many requests at once all end, none of them as cancelled, without an answer or twice. If one that is made
        /// alone then does so, ``answersOnce`` is broken, and nothing is said of many. If one that is cancelled alone
        /// doesn't end either, ``hearsCancel`` is. Some are cancelled, at once or after the time of
        /// ``Patience/beforeCancel``. They end, and the others don't notice: no more of them fail, and no stream ends
        /// earlier, than where none is cancelled. One that is made after one was cancelled ends as well, with an error
        /// only if it has one anyhow, and so does one of three that are made after many were. With several inputs none
        /// gets the answer that another input gets alone, nor, beside a cancel or after one, one that it gets only
        /// then. The failures of all inputs are counted together, without those of an input that always fails: what
        /// fails now and then may hide what a cancel does to the others.
        ///
        /// What a cancel does to others, and whose answer goes to whom, is looked at three times, or six where others
        /// fail or end beside a cancel, and breaks the rule if it is found each time. A provider that fails at random,
        /// or whose streams end at random, may be found to break it once in a while, and one of which chance says who
        /// works for the others may pass. So may one of which chance says whether it breaks a rule at all: each is
        /// looked at a few times.
        case takesConcurrentRequests
        /// When all requests have ended or were cancelled, nothing holds the provider. One of which no request ends,
        /// with a cancel or without, can't be looked at, which breaks the rule as well.
        case isReleased
    }

    /// A rule that was broken.
    public struct Breach: Sendable, Hashable, CustomStringConvertible {
        /// The rule.
        public let rule: Rule
        /// What was expected, and what came.
        public let message: String

        /// The rule and the message.
        public var description: String { "\(rule): \(message)" }
    }

    /// Runs the battery, and fails for each rule that the provider breaks.
    ///
    /// - Parameters:
    ///   - input: What every request is made with.
    ///   - patience: How long a request may take, and how long one that was cancelled may.
    ///   - rules: What is looked at. To look at none is a failure.
    ///   - make: Makes a new provider, which nobody else holds. Called for each look at one, so several times for a
    ///     rule.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Returns: The rules that were broken. They have been reported.
    /// - Throws: What `make` throws, and `CancellationError` if the task that checks is cancelled.
    @discardableResult
    public static func check<Provider: DataProvider>(
        input: Provider.Input, patience: Patience = Patience(), rules: Set<Rule> = Set(Rule.allCases),
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable () throws -> Provider
    ) async throws -> [Breach] {
        try await check(
            ContractCheck(input: input, patience: patience, make: make), rules,
            SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// Runs the battery, and has requests at once and later ones made with several inputs: none is to get the answer
    /// that another input gets alone. It is meant for providers whose answer depends on the input only. An answer that
    /// an input gets as well when it alone is asked once more is its own. One that no input gets alone says something
    /// beside a cancel and after one only, and if such don't come without one. One to an input that fails alone says
    /// nothing. There are twenty requests at once: of more than ten inputs, some come only once among them.
    ///
    /// ```swift
    /// try await DataProviderContract.check(inputs: "apple", "pear") { UserDataProvider() }
    /// ```
    ///
    /// - Parameters:
    ///   - input: What a request alone is made with.
    ///   - others: What requests at once, and later ones, are made with besides, in turn.
    ///   - patience: How long a request may take, and how long one that was cancelled may.
    ///   - rules: What is looked at. To look at none is a failure.
    ///   - make: Makes a new provider, which nobody else holds. Called for each look at one, so several times for a
    ///     rule.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Returns: The rules that were broken. They have been reported.
    /// - Throws: What `make` throws, and `CancellationError` if the task that checks is cancelled.
    @discardableResult
    public static func check<Provider: DataProvider>(
        inputs input: Provider.Input, _ others: Provider.Input..., patience: Patience = Patience(),
        rules: Set<Rule> = Set(Rule.allCases),
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable () throws -> Provider
    ) async throws -> [Breach] where Provider.Output: Equatable {
        try await check(
            ContractCheck(input: input, others: (others, { $0 == $1 }), patience: patience, make: make), rules,
            SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    private static func check<Provider>(
        _ check: ContractCheck<Provider>, _ rules: Set<Rule>, _ place: SourcePlace
    ) async throws -> [Breach] {
        try Task.checkCancellation()
        let ledger = FailureLedger.current
        if rules.isEmpty { ledger.record("Expected a rule at least, and none came.", at: place) }
        var breaches: [Breach] = []
        for rule in Rule.allCases where rules.contains(rule) {
            let found = try await check.breaches(of: rule)
            // Of a battery that was cancelled meanwhile nobody knows what it found.
            try Task.checkCancellation()
            let isKnown = { (rule: Rule) in breaches.contains { $0.rule == rule } }
            for breach in found where rules.contains(breach.rule) && !isKnown(breach.rule) {
                breaches.append(breach)
                ledger.record("\(Provider.self) breaks the contract of providers, \(breach)", at: place)
            }
        }
        return breaches
    }

    /// How long the battery waits before it says that something doesn't come.
    public struct Patience: Sendable {
        /// How long a request may take.
        public var request: Duration
        /// How long a request may take to end after its cancel.
        public var cancel: Duration
        /// How long a request is left alone before it is cancelled. One that ends by then shows nothing of a cancel,
        /// and what requests share only later than that isn't looked at.
        public var beforeCancel: Duration
        /// What measures the time. With a ``ManualClock`` the test does: it says that something doesn't come when
        /// nothing else is left to do. With one, check in a task that was started with ``ManualClock/executor``.
        /// The clock doesn't wait for another task, so that its time may have gone on before a cancel that is to come
        /// at once.
        public var clock: any Clock<Duration>

        /// Makes a patience.
        public init(
            request: Duration = .seconds(10), cancel: Duration = .seconds(2),
            beforeCancel: Duration = .milliseconds(20), clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.request = request
            self.cancel = cancel
            self.beforeCancel = beforeCancel
            self.clock = clock
        }
    }
}
