/// The prepared part of a call: its handlers and options.
struct CallConfiguration: Sendable {
    var handlers = HandlerSet()
    private var optionStorage: CallOptionStorage?

    /// The optional parts: a retry rule, observers and links. Stored separately, so that the configuration of most calls is
    /// small and cheap to copy.
    var options: CallOptions {
        get { optionStorage?.options ?? CallOptions() }
        set { optionStorage = CallOptionStorage(newValue) }
    }

    /// False if the call has none of the options.
    var hasOptions: Bool { optionStorage != nil }
}

/// Handlers and observers that several calls share.
struct SharedHandlers: Sendable {
    var handlers = HandlerSet()
    var observers: [any CallObserver] = []

    mutating func append(_ other: SharedHandlers) {
        handlers.append(other.handlers)
        observers += other.observers
    }
}

extension CallConfiguration {
    /// The handlers and observers, for a call that repeats them.
    var shared: SharedHandlers {
        get { SharedHandlers(handlers: handlers, observers: hasOptions ? options.observers : []) }
        set {
            handlers = newValue.handlers
            if hasOptions || !newValue.observers.isEmpty { options.observers = newValue.observers }
        }
    }
}

/// A call's retry rule, its observers, and its links to other calls.
struct CallOptions: Sendable {
    var retry: RetryRule?
    var observers: [any CallObserver] = []
    var predecessors: [Predecessor] = []
    var followers: [Follower] = []

    /// Calls `whenFinished` when another call has finished. Returns that call if it was started here.
    typealias Predecessor =
        @Sendable (
            _ isolation: isolated (any Actor)?, _ whenFinished: @escaping @Sendable () -> Void
        ) -> CallExecution?

    /// Starts another call for an outcome, and adds it to the chain of the call that has finished.
    typealias Follower =
        @Sendable (
            _ outcome: CallOutcome, _ handlers: SharedHandlers, _ call: CallExecution,
            _ isolation: isolated (any Actor)?
        ) -> Void
}

/// Stores the options of a call. Releases linked calls in a loop: a recursive release of a long chain would overflow the
/// stack.
private final class CallOptionStorage: Sendable {
    private let stored: Locked<CallOptions?>

    init(_ options: CallOptions) {
        stored = Locked(options)
    }

    var options: CallOptions? { stored.withLock { $0 } }

    deinit {
        var options = stored.withLock { $0.take() }
        DeferredRelease.release(&options)
    }
}
