public import IDMCore

/// An event that a test expects of an ``IntegrationRecorder``.
public struct EventExpectation<Output: Sendable>: Sendable, CustomStringConvertible {
    /// The text of failures.
    public let description: String
    package let isMet: @Sendable (IntegrationEvent<Output>) -> Bool
    /// The expected fraction, for progress.
    private var fraction: Double?

    /// Makes an expectation from a condition. Reports of progress that don't meet the condition are passed over.
    public init(_ description: String, isMet: @escaping @Sendable (IntegrationEvent<Output>) -> Bool) {
        self.description = description
        self.isMet = isMet
    }

    /// The call has started.
    public static var began: Self { Self("began") { if case .began = $0 { true } else { false } } }

    /// The call had started, and has ended.
    public static var completed: Self { Self("completed") { if case .completed = $0 { true } else { false } } }

    /// The call delivered a value.
    public static var succeeded: Self { Self("succeeded") { if case .succeeded = $0 { true } else { false } } }

    /// The call delivered this value.
    public static func succeeded(_ value: Output) -> Self where Output: Equatable {
        Self("succeeded(\(value))") { if case .succeeded(value) = $0 { true } else { false } }
    }

    /// The call delivered a value that meets a condition.
    public static func succeeded(where condition: @escaping @Sendable (Output) -> Bool) -> Self {
        Self("succeeded(where: …)") { if case .succeeded(let value) = $0 { condition(value) } else { false } }
    }

    /// The call failed.
    public static var failed: Self { Self("failed") { if case .failed = $0 { true } else { false } } }

    /// The call failed with this error.
    public static func failed<E: Error & Equatable>(_ error: E) -> Self {
        Self("failed(\(error))") { if case .failed(let came) = $0 { came as? E == error } else { false } }
    }

    /// The call was cancelled, for this reason.
    public static func cancelled(_ reason: CancelReason) -> Self {
        Self("cancelled(\(reason))") { if case .cancelled(reason) = $0 { true } else { false } }
    }

    /// The call reported this fraction of its work. Of several quick reports only the last may be delivered.
    public static func progressed(_ fraction: Double) -> Self {
        var expectation = Self("progressed(\(fraction))") {
            if case .progressed(let progress) = $0 { progress.fraction == fraction } else { false }
        }
        expectation.fraction = fraction
        return expectation
    }

    /// Returns whether an event that doesn't meet the expectation may come before one that does.
    func passes(over event: IntegrationEvent<Output>) -> Bool {
        guard case .progressed(let progress) = event else { return false }
        return fraction.map { progress.fraction < $0 } ?? true
    }

    /// The call is tried again. The first time is 1.
    public static func retried(_ attempt: Int) -> Self {
        Self("retried(\(attempt))") { if case .retried(attempt, _) = $0 { true } else { false } }
    }

    /// The call is tried again because of this error. The first time is 1.
    public static func retried<E: Error & Equatable>(_ attempt: Int, after error: E) -> Self {
        Self("retried(\(attempt), after: \(error))") {
            if case .retried(attempt, let came) = $0 { came as? E == error } else { false }
        }
    }
}

extension IntegrationEvent {
    var isProgress: Bool { if case .progressed = self { true } else { false } }

    /// Writes events for a failure. Of many reports in a row it writes the first and the last, and of more than twenty
    /// entries the first ten and the last five.
    static func words(for events: [Self]) -> [String] {
        /// The text, and the number of events that it stands for.
        var entries: [(words: String, count: Int)] = []
        var rest = events[...]
        while !rest.isEmpty {
            let reports = rest.prefix(while: \.isProgress).map { ($0.words, 1) }
            entries +=
                reports.count > 5 ? reports.prefix(1) + [("…", reports.count - 2)] + reports.suffix(1) : reports
            rest = rest.dropFirst(reports.count)
            if let event = rest.popFirst() { entries.append((event.words, 1)) }
        }
        guard entries.count > 20 else { return entries.map(\.words) }
        let count = entries.dropFirst(10).dropLast(5).reduce(0) { $0 + $1.count }
        return entries.prefix(10).map(\.words) + ["… \(count) more …"] + entries.suffix(5).map(\.words)
    }

    /// The text of the event.
    var words: String {
        switch self {
        case .began: "began"
        case .progressed(let progress): "progressed(\(progress.fraction))"
        case .retried(let attempt, let error): "retried(\(attempt), after: \(error))"
        case .succeeded(let value): "succeeded(\(value))"
        case .failed(let error): "failed(\(error))"
        case .cancelled(let reason): "cancelled(\(reason))"
        case .completed: "completed"
        }
    }
}
