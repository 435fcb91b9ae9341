/// Handlers of calls, with what is known of all of them.
struct HandlerSet: Sendable {
    private(set) var list = HandlerList()
    private(set) var events: EventSet = []
    private var areOnOneActor = true
    /// The actor of the first handler.
    private var actor: ObjectIdentifier?

    /// - Parameter actor: The actor of the handler.
    mutating func append(_ event: EventSet, _ body: EventHandler.Body, on actor: (any Actor)?) {
        note(actor.map { ObjectIdentifier($0) })
        list.append(EventHandler(event: event, body: body))
        events.formUnion(event)
        if case .repeatableError = body { events.insert(.repetition) }
    }

    mutating func append(_ other: HandlerSet) {
        guard !other.list.isEmpty else { return }
        note(other.actor)
        areOnOneActor = areOnOneActor && other.areOnOneActor
        list.append(other.list)
        events.formUnion(other.events)
    }

    private mutating func note(_ actor: ObjectIdentifier?) {
        if list.isEmpty { self.actor = actor } else if self.actor != actor { areOnOneActor = false }
    }

    /// True if no handler has an actor other than this one.
    func areAll(on actor: (any Actor)?) -> Bool {
        list.isEmpty || areOnOneActor && self.actor == actor.map { ObjectIdentifier($0) }
    }
}

/// Handlers in the order in which they were added. One array for all events: most calls have few, and copies are cheap.
struct HandlerList: Sendable {
    private var handlers: [EventHandler] = []

    var isEmpty: Bool { handlers.isEmpty }

    mutating func append(_ handler: EventHandler) {
        if handlers.isEmpty { handlers.reserveCapacity(4) }
        handlers.append(handler)
    }

    mutating func append(_ other: HandlerList) {
        handlers += other.handlers
    }

    /// The handlers of an event.
    func of(_ event: EventSet) -> [EventHandler] {
        handlers.filter { $0.event == event }
    }

    subscript(index: Int) -> EventHandler { handlers[index] }

    /// The index of the next handler of an event. Nil if there is none.
    func next(_ event: EventSet, after index: Int = -1) -> Int? {
        var index = index + 1
        while index < handlers.count {
            if handlers[index].event == event { return index }
            index += 1
        }
        return nil
    }

    /// The actor on which an event is delivered: that of its first handler, or else of the first handler of the
    /// completion that follows. Nil if there is neither.
    func isolation(of event: CallEvent) -> HandlerIsolation? {
        isolation(of: event.kind) ?? (event.isCompleted ? isolation(of: .completion) : nil)
    }

    func isolation(of event: EventSet) -> HandlerIsolation? {
        next(event).map { HandlerIsolation(actor: handlers[$0].isolation) }
    }
}

/// The actor of a handler; nil for a handler that runs on none.
struct HandlerIsolation: Sendable {
    let actor: (any Actor)?
}

/// The events that handlers can be added for.
struct EventSet: OptionSet, Sendable {
    let rawValue: UInt8

    static let begin = EventSet(rawValue: 1)
    static let progress = EventSet(rawValue: 2)
    static let retry = EventSet(rawValue: 4)
    static let success = EventSet(rawValue: 8)
    static let error = EventSet(rawValue: 16)
    static let cancel = EventSet(rawValue: 32)
    static let completion = EventSet(rawValue: 64)
    /// Not an event: a handler of errors can start the call again.
    static let repetition = EventSet(rawValue: 128)
}

/// A handler of one event.
struct EventHandler: Sendable {
    let event: EventSet
    let body: Body

    enum Body: Sendable {
        /// For the begin event and the completion.
        case plain(@isolated(any) @Sendable () -> Void)
        case progress(@isolated(any) @Sendable (IntegrationProgress) -> Void)
        case retry(@isolated(any) @Sendable (Int, any Error) -> Void)
        case success(SuccessHandler)
        case error(@isolated(any) @Sendable (any Error) -> Void)
        /// A handler of errors that can start the call again.
        case repeatableError(@isolated(any) @Sendable (any Error, @escaping CallRepetition) -> Void)
        case cancel(@isolated(any) @Sendable (CancelReason) -> Void)
    }

    /// The handler of a begin event or a completion.
    var plain: @isolated(any) @Sendable () -> Void {
        if case .plain(let body) = body { body } else { {} }
    }

    /// The handler of a value.
    var success: @Sendable (any Sendable) async -> Void {
        if case .success(let handler) = body { handler.body } else { { _ in } }
    }

    var isolation: (any Actor)? {
        switch body {
        case .plain(let body): body.isolation
        case .progress(let body): body.isolation
        case .retry(let body): body.isolation
        case .success(let handler): handler.isolation
        case .error(let body): body.isolation
        case .repeatableError(let body): body.isolation
        case .cancel(let body): body.isolation
        }
    }
}

/// A handler of values, with the type of the value erased.
@usableFromInline
struct SuccessHandler: Sendable {
    let isolation: (any Actor)?
    let body: @Sendable (any Sendable) async -> Void

    @usableFromInline
    init(isolation: (any Actor)?, body: @escaping @Sendable (any Sendable) async -> Void) {
        self.isolation = isolation
        self.body = body
    }

    // Inlinable: where the type of the value is known, the cast and the closure are specialized for it.
    @inlinable
    init<Output: Sendable>(_ handler: @escaping @isolated(any) @Sendable (Output) -> Void) {
        // A call delivers values of its own output only.
        self.init(isolation: handler.isolation, body: { await handler($0 as! Output) })
    }
}

extension EventHandler {
    /// Calls the handler on its actor.
    ///
    /// - Parameters:
    ///   - value: The value of the event, if it has one.
    ///   - execution: The call that delivers the event.
    @inline(__always)
    func call(_ event: CallEvent, _ value: any Sendable, of execution: CallExecution) async {
        switch body {
        case .plain(let body):
            await body()
        case .success(let handler):
            await handler.body(value)
        case .error(let body):
            if case .ended(.failure(let error, _)) = event { await body(error) }
        case .repeatableError(let body):
            if case .ended(.failure(let error, _)) = event { await body(error, execution.repetition) }
        case .cancel(let body):
            if let reason = event.cancelReason { await body(reason) }
        case .progress(let body):
            if case .progressed(let progress) = event { await body(progress) }
        case .retry(let body):
            if case .retried(let number, let error) = event { await body(number, error) }
        }
    }
}
