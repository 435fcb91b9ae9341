/// The prepared part of a call: its handlers, and what few calls have.
struct CallConfiguration: Sendable {
    var handlers = HandlerSet()
    private var optionStorage: CallOptionStorage?

    /// What few calls have. Stored apart: the configuration of most calls is small, and cheap to copy.
    var options: CallOptions {
        get { optionStorage?.options ?? CallOptions() }
        set { optionStorage = CallOptionStorage(newValue) }
    }

    /// False if the call has none of the options.
    var hasOptions: Bool { optionStorage != nil }

    /// Adds handlers and observers after those that are here.
    mutating func append(_ shared: SharedHandlers) {
        handlers.append(shared.handlers)
        if !shared.observers.isEmpty { options.observers += shared.observers }
    }
}

/// The handlers and observers of a call that other calls have too.
struct SharedHandlers: Sendable {
    var handlers = HandlerSet()
    var observers: [any CallObserver] = []

    mutating func append(_ other: SharedHandlers) {
        handlers.append(other.handlers)
        observers += other.observers
    }
}

extension CallConfiguration {
    /// The part that calls which repeat this call's handlers have too.
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

    /// True if other calls come before or after this one.
    var isChained: Bool { !predecessors.isEmpty || !followers.isEmpty }

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

/// Releases the links to other calls one after the other: a chain may be longer than the stack.
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
