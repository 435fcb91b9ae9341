/// The prepared part of a call: its handlers, and for few calls a retry rule and links to other calls.
///
/// Storage of ``IntegrationCall``, which copies it before a change if another call uses it. Executions only read it.
final class CallConfiguration: Sendable {
    private let storage: Locked<Contents>

    struct Contents: Sendable {
        var handlers = Handlers()
        var retry: RetryRule?
        var predecessors: [Predecessor] = []
        var links: [Link] = []
        /// The number of links that call this call's handlers again.
        var recallCount = 0
    }

    /// Calls `whenFinished` when another call has finished. Returns that call if it was started here.
    typealias Predecessor =
        @Sendable (_ isolation: isolated (any Actor)?, _ whenFinished: @escaping @Sendable () -> Void) -> CallHandle?

    /// Starts another call for an outcome, and adds it to the chain of the call that has finished.
    typealias Link =
        @Sendable (
            _ outcome: CallOutcome, _ configuration: CallConfiguration, _ execution: CallExecution,
            _ isolation: isolated (any Actor)?
        ) -> Void

    init(_ contents: Contents = Contents()) {
        storage = Locked(contents)
    }

    convenience init(handlers: Handlers) {
        self.init(Contents(handlers: handlers))
    }

    deinit {
        // Linked calls are released one after the other: a chain may be longer than the stack.
        var rest: [any Sendable]? = storage.withLock { contents in
            guard !contents.links.isEmpty || !contents.predecessors.isEmpty else { return nil }
            defer { (contents.links, contents.predecessors) = ([], []) }
            return contents.links + contents.predecessors
        }
        if rest != nil { Unlinking.letGo(of: &rest) }
    }

    /// Reads one or more properties.
    func read<R: Sendable>(_ body: (inout Contents) -> R) -> R {
        storage.withLock { body(&$0) }
    }

    /// Changes a configuration in place, or a copy if another call uses it.
    static func update(_ configuration: inout CallConfiguration?, _ change: (inout Contents) -> Void) {
        if configuration == nil {
            configuration = CallConfiguration()
        } else if !isKnownUniquelyReferenced(&configuration) {
            configuration = configuration.map { CallConfiguration($0.read { $0 }) }
        }
        configuration?.storage.withLock { change(&$0) }
    }
}

/// The handlers of a call, by event, in the order in which they were added.
struct Handlers: Sendable {
    var begin: [@isolated(any) @Sendable () -> Void] = []
    var progress: [@isolated(any) @Sendable (IntegrationProgress) -> Void] = []
    var retry: [@isolated(any) @Sendable (Int, any Error) -> Void] = []
    var success: [SuccessHandler] = []
    var error: [@isolated(any) @Sendable (any Error) -> Void] = []
    var cancel: [@isolated(any) @Sendable (CancelReason) -> Void] = []
    var completion: [@isolated(any) @Sendable () -> Void] = []
    var observers: [any CallObserver] = []

    var isEmpty: Bool {
        begin.isEmpty && progress.isEmpty && retry.isEmpty && success.isEmpty && error.isEmpty && cancel.isEmpty
            && completion.isEmpty && observers.isEmpty
    }

    mutating func append(_ other: Handlers) {
        begin += other.begin
        progress += other.progress
        retry += other.retry
        success += other.success
        error += other.error
        cancel += other.cancel
        completion += other.completion
        observers += other.observers
    }

    /// The handler that decides on which actor the final event is delivered: the first for the outcome, or else for the
    /// completion. Nil if there is neither.
    func finalHandler(for outcome: CallOutcome) -> HandlerIsolation? {
        let first: HandlerIsolation? =
            switch outcome {
            case .success: success.first.map { HandlerIsolation($0.isolation) }
            case .failure: error.first.map { HandlerIsolation($0.isolation) }
            case .cancelled: cancel.first.map { HandlerIsolation($0.isolation) }
            }
        return first ?? completion.first.map { HandlerIsolation($0.isolation) }
    }
}

/// The actor of a handler; nil for a handler that runs on none.
struct HandlerIsolation {
    let actor: (any Actor)?

    init(_ actor: (any Actor)?) {
        self.actor = actor
    }
}

/// A handler of values, with the type of the value erased.
@usableFromInline
struct SuccessHandler: Sendable {
    let isolation: (any Actor)?
    let call: @Sendable (any Sendable) async -> Void

    @usableFromInline
    init<Output: Sendable>(_ handler: @escaping @isolated(any) @Sendable (Output) -> Void) {
        isolation = handler.isolation
        // A call delivers values of its own output only.
        call = { await handler($0 as! Output) }
    }
}

/// An event in the life of a call, for observers.
enum CallLifecycle: Sendable {
    case made(any CallSource)
    case began
    case retried(attempt: Int)
    case value
    /// The call was cancelled before it began: it delivers a cancel event and nothing else.
    case rejected
    case ended(CallOutcome)
}

/// Observes the calls of an integrator. Has no actor: an observed call delivers in the same order and turns.
protocol CallObserver: AnyObject, Sendable {
    /// Called outside all locks, on the thread on which the event happens.
    func callDidChange(_ event: CallLifecycle, of call: ObjectIdentifier)
}

typealias CallOutcome = IntegrationOutcome<any Sendable>
