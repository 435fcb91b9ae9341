/// An event of a call, with the data for its handlers except for the value. Values are passed beside it, by reference: an
/// enum with a value in it would be copied with each use (Swift 6.3; `call, 3 handlers` in the benchmarks). For the same
/// reason, the large cases are indirect.
enum CallEvent: Sendable {
    case began
    indirect case progressed(IntegrationProgress)
    indirect case retried(Int, any Error)
    /// A value of a stream.
    case value
    /// The final event of a call that has begun.
    case ended(CallEnd)
    /// The only event of a call that was cancelled before it began.
    case rejected(CancelReason)

    /// The kind of handler that receives the event. Empty for a value that was delivered before.
    var kind: EventSet {
        switch self {
        case .began: .begin
        case .progressed: .progress
        case .retried: .retry
        case .value: .success
        case .ended(.success(let isDelivered)): isDelivered ? [] : .success
        case .ended(.failure): .error
        case .ended(.cancelled), .rejected: .cancel
        }
    }

    /// True if a completion follows.
    var isCompleted: Bool {
        if case .ended = self { true } else { false }
    }

    var cancelReason: CancelReason? {
        switch self {
        case .ended(.cancelled(let reason)), .rejected(let reason): reason
        case .began, .progressed, .retried, .value, .ended: nil
        }
    }
}

/// The end of a call: its outcome without the value.
enum CallEnd: Sendable {
    /// The value may have been delivered before: the last of a stream.
    case success(isDelivered: Bool)
    /// A stream that has delivered a value is not retried.
    case failure(any Error, mayRetry: Bool = true)
    case cancelled(CancelReason)

    /// The end of a provider's error, which may be a cancellation.
    init(_ error: any Error, mayRetry: Bool = true) {
        self = CancelReason(error).map { .cancelled($0) } ?? .failure(error, mayRetry: mayRetry)
    }

    func outcome(_ value: any Sendable) -> CallOutcome {
        switch self {
        case .success: .success(value)
        case .failure(let error, _): .failure(error)
        case .cancelled(let reason): .cancelled(reason)
        }
    }
}

/// An event in the life of a call, for observers. The large cases are indirect, as above.
enum CallLifecycle: Sendable {
    indirect case made(any CallSource)
    case began
    case retried(attempt: Int)
    case value
    /// The call was cancelled before it began: it delivers a cancel event and nothing else.
    case rejected
    indirect case ended(CallOutcome)
}

/// Observes the calls of an integrator. Has no actor: an observed call delivers in the same order and turns.
protocol CallObserver: AnyObject, Sendable {
    /// Called outside all locks, on the thread on which the event happens.
    func callDidChange(_ event: CallLifecycle, of call: ObjectIdentifier)
}

typealias CallOutcome = IntegrationOutcome<any Sendable>
