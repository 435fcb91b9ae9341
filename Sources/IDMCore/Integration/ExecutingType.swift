/// The rule under which the calls of an integrator, or of one of its lanes, run beside each other.
///
/// | type | when a call starts | what happens to the others | on failure | on cancel |
/// |---|---|---|---|---|
/// | ``default`` | at once | nothing | the call alone ends | the call alone ends |
/// | ``only`` | at once, if nothing runs | later calls are ignored | the place is free | the place is free |
/// | ``only(joining:)`` | at once | later calls share the running request | all that share it hear of it | leaves alone; the last one out stops the request |
/// | ``queue`` | in order of `call()`, one at a time | they wait | the next one starts | the next one starts |
/// | ``latest`` | at once | earlier ones are superseded | the call alone ends | the call alone ends |
public struct ExecutingType: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case all
        case one(joining: Bool)
        case line(width: Int, limit: Int)
        case newest(debounce: Duration)
    }

    let kind: Kind

    /// Every call starts at once, and all run independently.
    public static let `default` = ExecutingType(kind: .all)

    /// A call starts at once if nothing runs. Otherwise it is ignored.
    ///
    /// The place is free again as soon as the end of the running call is decided, before its last handlers run, so a
    /// handler may call again.
    public static let only = ExecutingType(kind: .one(joining: false))

    /// A call starts at once. With `joining`, calls made while a request runs share that request and what it answers;
    /// its input is the first call's. Each hears its own handlers, and each can be cancelled without the others. The
    /// request becomes as urgent as the most urgent who joins, where the platform can.
    ///
    /// A provider that awaits its own joining integrator waits for its own answer, for ever.
    public static func only(joining: Bool) -> ExecutingType {
        ExecutingType(kind: .one(joining: joining))
    }

    /// Calls run one at a time, in the order in which `call()` was entered.
    ///
    /// A provider that awaits its own queued integrator waits for ever.
    public static let queue = queue()

    /// Calls run in the order in which `call()` was entered, some at a time.
    ///
    /// The next one starts when one before it has finished, its `onCompletion` included, however it ended.
    ///
    /// - Parameters:
    ///   - width: How many run at the same time. Less than one counts as one.
    ///   - limit: How many may wait. Those past the limit are ignored; with zero or less, nothing waits.
    public static func queue(width: Int = 1, limit: Int = .max) -> ExecutingType {
        ExecutingType(kind: .line(width: max(width, 1), limit: max(limit, 0)))
    }

    /// A call starts at once, and those before it are superseded: they are cancelled, and deliver nothing more.
    public static let latest = latest(debounce: .zero)

    /// A call starts after that much quiet, and those before it are superseded as soon as it is made.
    ///
    /// - Parameter debounce: How long no newer call may come before the call starts. Zero or less is no wait at all.
    public static func latest(debounce: Duration) -> ExecutingType {
        ExecutingType(kind: .newest(debounce: max(debounce, .zero)))
    }

    /// The quiet that a call waits for.
    var debounce: Duration {
        if case .newest(let debounce) = kind { return debounce }
        return .zero
    }

    /// Whether calls share the request that runs.
    var isJoining: Bool { kind == .one(joining: true) }

    /// Whether a call never waits, nor shares what it asks: so that all is known of it as soon as it comes.
    var decidesAtOnce: Bool {
        switch kind {
        case .all, .one(joining: false): true
        case .newest(let debounce): debounce == .zero
        case .one(joining: true), .line: false
        }
    }

    /// What the gate goes by. Sharing a request is not its business: to the gate, joined calls all run.
    var rule: AdmissionRule {
        switch kind {
        case .all, .one(joining: true): .all
        case .one(joining: false): .one
        case .line(let width, let limit): .line(width: width, limit: limit)
        case .newest(let debounce): .newest(settles: debounce > .zero)
        }
    }
}

extension ExecutingType: CustomStringConvertible {
    /// The type as it is written.
    public var description: String {
        switch kind {
        case .all: "default"
        case .one(let joining): joining ? "only(joining: true)" : "only"
        case .line(1, .max): "queue"
        case .line(let width, .max): "queue(width: \(width))"
        case .line(let width, let limit): "queue(width: \(width), limit: \(limit))"
        case .newest(.zero): "latest"
        case .newest(let debounce): "latest(debounce: \(debounce))"
        }
    }
}
