/// How concurrent calls of one integrator, or of one of its lanes, affect each other.
///
/// | type | a call starts | other calls | after a failure or cancel |
/// |---|---|---|---|
/// | ``default`` | at once | run independently | only this call ends |
/// | ``only`` | at once, if no call is running | are ignored while it runs | the next call can start |
/// | ``only(joining:)`` | at once | share the running request | a failure ends all of them; a cancel only the cancelled one |
/// | ``queue`` | when the calls before it have finished | wait, in order | the next call starts |
/// | ``latest`` | at once | earlier calls are cancelled as superseded | only this call ends |
public struct ExecutingType: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case `default`
        case only(joining: Bool)
        case queue(width: Int, limit: Int)
        case latest(debounce: Duration)
        case throttled(Duration)
    }

    let kind: Kind

    /// Starts every call at once; all run independently.
    public static let `default` = ExecutingType(kind: .default)

    /// Starts a call if no call is running; otherwise ignores it.
    ///
    /// The running call stops counting as running when its outcome is decided, before its last handlers run. A handler
    /// can therefore start the next call.
    public static let only = ExecutingType(kind: .only(joining: false))

    /// Starts a call at once; while a request is running, later calls share it and receive its result.
    ///
    /// The shared request uses the first call's input. Each call has its own handlers and can be cancelled alone; the
    /// request is cancelled with its last call. It runs at the highest priority of the calls that share it.
    ///
    /// - Warning: A provider that awaits its own joining integrator deadlocks.
    public static func only(joining: Bool) -> ExecutingType {
        ExecutingType(kind: .only(joining: joining))
    }

    /// Runs one call at a time, in the order in which `call()` was entered.
    ///
    /// - Warning: A provider that awaits its own queued integrator deadlocks.
    public static let queue = queue()

    /// Runs up to `width` calls at a time, in the order in which `call()` was entered.
    ///
    /// A waiting call starts when a running call has finished, including its `onCompletion` handlers. A cancelled call has
    /// finished then too, even if its provider still runs.
    ///
    /// - Parameters:
    ///   - width: The maximum number of running calls; at least 1.
    ///   - limit: The maximum number of waiting calls. Calls beyond it are ignored. With 0, no call waits.
    /// - Warning: A provider that awaits its own queued integrator deadlocks.
    public static func queue(width: Int = 1, limit: Int = .max) -> ExecutingType {
        ExecutingType(kind: .queue(width: max(width, 1), limit: max(limit, 0)))
    }

    /// Starts a call at once, and cancels earlier calls as superseded. They deliver no more values.
    public static let latest = latest(debounce: .zero)

    /// Starts a call after `debounce` without a newer call, and cancels earlier calls as superseded at once.
    ///
    /// - Parameter debounce: The interval without a newer call. With zero or less, the call starts at once.
    public static func latest(debounce: Duration) -> ExecutingType {
        ExecutingType(kind: .latest(debounce: max(debounce, .zero)))
    }

    /// Starts a call at once, but at most one per `interval`: a call that comes earlier waits for the rest of the
    /// interval. Earlier calls, running or waiting, are cancelled as superseded at once.
    ///
    /// For input that changes continuously, such as a slider: the first value is requested at once, and the last one always
    /// is. A debounce would wait until the input rests.
    ///
    /// - Parameter interval: The minimum time between two starts. With zero or less, every call starts at once.
    public static func latest(throttle interval: Duration) -> ExecutingType {
        interval > .zero ? ExecutingType(kind: .throttled(interval)) : .latest
    }

    /// True if calls share the running request.
    var isJoining: Bool { kind == .only(joining: true) }

    /// The admission rule. Joining calls are all admitted: they share a request, not a place.
    var rule: AdmissionRule {
        switch kind {
        case .default, .only(joining: true): .default
        case .only(joining: false): .only
        case .queue(let width, let limit): .queue(width: width, limit: limit)
        case .latest(let debounce): .latest(debounces: debounce > .zero)
        case .throttled: .latest(debounces: true)
        }
    }
}

extension ExecutingType: CustomStringConvertible {
    /// The type, as written in code.
    public var description: String {
        switch kind {
        case .default: "default"
        case .only(let joining): joining ? "only(joining: true)" : "only"
        case .queue(1, .max): "queue"
        case .queue(let width, .max): "queue(width: \(width))"
        case .queue(let width, let limit): "queue(width: \(width), limit: \(limit))"
        case .latest(.zero): "latest"
        case .latest(let debounce): "latest(debounce: \(debounce))"
        case .throttled(let interval): "latest(throttle: \(interval))"
        }
    }
}
