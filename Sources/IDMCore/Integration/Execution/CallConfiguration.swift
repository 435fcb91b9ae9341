/// The prepared part of a call: its handlers, and for few calls a retry rule and links to other calls.
struct CallConfiguration: Sendable {
    var handlers = Handlers()
    var retry: RetryRule?
    var predecessors: [Predecessor] = []
    var links: [Link] = []

    /// Calls `whenFinished` when another call has finished. Returns that call if it was started here.
    typealias Predecessor =
        @Sendable (
            _ isolation: isolated (any Actor)?, _ whenFinished: @escaping @Sendable () -> Void
        ) -> CallExecution?

    /// Starts another call for an outcome, and adds it to the chain of the call that has finished.
    typealias Link =
        @Sendable (
            _ outcome: CallOutcome, _ handlers: Handlers, _ call: CallState, _ isolation: isolated (any Actor)?
        ) -> Void

    /// True if other calls come before or after this one.
    var isChained: Bool { !predecessors.isEmpty || !links.isEmpty }
}

/// The handlers of a call, by event, in the order in which they were added.
///
/// Closures are wrapped: stored in a generic collection, a bare closure is allocated once more when it is added, and again
/// when it is read.
struct Handlers: Sendable {
    var begin = HandlerList<PlainHandler>()
    var progress = HandlerList<ProgressHandler>()
    var retry = HandlerList<RetryHandler>()
    var success = HandlerList<SuccessHandler>()
    var error = HandlerList<ErrorHandler>()
    var cancel = HandlerList<CancellationHandler>()
    var completion = HandlerList<PlainHandler>()
    var observers: [any CallObserver] = []

    struct PlainHandler: Sendable { let call: @isolated(any) @Sendable () -> Void }
    struct ProgressHandler: Sendable { let call: @isolated(any) @Sendable (IntegrationProgress) -> Void }
    struct RetryHandler: Sendable { let call: @isolated(any) @Sendable (Int, any Error) -> Void }
    enum ErrorHandler: Sendable {
        case plain(@isolated(any) @Sendable (any Error) -> Void)
        /// The handler can start the call again.
        case repeating(@isolated(any) @Sendable (any Error, @escaping CallRepetition) -> Void)

        var isolation: (any Actor)? {
            switch self {
            case .plain(let handler): handler.isolation
            case .repeating(let handler): handler.isolation
            }
        }

        var isRepeating: Bool {
            if case .repeating = self { true } else { false }
        }
    }
    struct CancellationHandler: Sendable { let call: @isolated(any) @Sendable (CancelReason) -> Void }

    mutating func append(_ other: Handlers) {
        begin.append(contentsOf: other.begin)
        progress.append(contentsOf: other.progress)
        retry.append(contentsOf: other.retry)
        success.append(contentsOf: other.success)
        error.append(contentsOf: other.error)
        cancel.append(contentsOf: other.cancel)
        completion.append(contentsOf: other.completion)
        observers += other.observers
    }

    func followed(by other: Handlers) -> Handlers {
        var all = self
        all.append(other)
        return all
    }

    /// The handler that decides on which actor the final event is delivered: the first for the outcome, or else for the
    /// completion. Nil if there is neither.
    func finalHandler(for outcome: CallOutcome) -> HandlerIsolation? {
        let first: HandlerIsolation? =
            switch outcome {
            case .success: success.first.map { HandlerIsolation($0.isolation) }
            case .failure: error.first.map { HandlerIsolation($0.isolation) }
            case .cancelled: cancel.first.map { HandlerIsolation($0.call.isolation) }
            }
        return first ?? completion.first.map { HandlerIsolation($0.call.isolation) }
    }
}

/// A list whose first element is stored inline: most calls have one handler of a kind.
struct HandlerList<Element: Sendable>: Sendable {
    private(set) var first: Element?
    private var others: [Element] = []

    var isEmpty: Bool { first == nil }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    mutating func append(contentsOf list: HandlerList) {
        if let element = list.first { append(element) }
        others += list.others
    }

    func contains(where condition: (Element) -> Bool) -> Bool {
        first.map(condition) ?? false || others.contains(where: condition)
    }

    /// The element at an index, or nil at the end of the list.
    subscript(index: Int) -> Element? {
        if index == 0 { return first }
        return index <= others.count ? others[index - 1] : nil
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
