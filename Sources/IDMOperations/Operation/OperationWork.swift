import Foundation
internal import IDMCore

/// What an operation does from its first event to its end, without the type of its result: none of it is generic, so
/// all operations are the same code.
///
/// The operation is handed in wherever its queue is told something.
final class OperationWork: Sendable {
    typealias Outcome = IntegrationOutcome<any Sendable>

    private typealias Run = (task: IntegrationTask<any Sendable>, operation: Operation)

    private struct State {
        var flow = OperationFlow()
        /// Nil as soon as it is being made: the handlers are the run's from then on.
        var call: IntegrationCall<any Sendable>?
        /// The call under way, and the operation, which is held until its call is over: nobody else has to.
        var run: Run?
        var outcome: Outcome?
        /// Those whose cancel is this one's.
        var watched: [Operation] = []
        var whenOver: [Int: @Sendable (Outcome) -> Void] = [:]
        var lastObserver = 0
        /// Made for the first pause, or for the call.
        var control: PauseControl?
        /// How often it may have become ready, or no longer so, by what has happened to it.
        var readinessChanges = 0
        #if !canImport(ObjectiveC)
        var reading = Reading.told
        #endif

        var isPaused: Bool { control?.isPaused ?? false }

        mutating func needControl() -> PauseControl {
            let control = control ?? PauseControl()
            self.control = control
            return control
        }
    }

    private let state: Locked<State>

    init(_ call: IntegrationCall<any Sendable>) {
        state = Locked(State(call: call))
    }

    deinit { letGo() }

    /// Lets go of a call that will never be made. If the operation was started, and paused since, its handlers hear of
    /// that.
    func letGo() {
        // Goes outside of the lock. It may hold what it takes its input from.
        let (call, isStarted) = state.withLock { ($0.call.take(), $0.flow.isStarted) }
        if isStarted { _ = call?.reject(.released) }
    }

    // MARK: What it is asked

    /// How the work ended. Nil until its last handler has run.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    var isExecuting: Bool { state.withLock { $0.flow.isExecuting } }
    var isFinished: Bool { state.withLock { $0.flow.isFinished } }
    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Calls back when the last handler has run, before the queue hears that the operation is finished; at once if it
    /// has. Returns what ``forget(_:)`` takes.
    @discardableResult
    func whenOver(_ body: @escaping @Sendable (Outcome) -> Void) -> Int {
        let (outcome, observer) = state.withLock { state in
            state.lastObserver += 1
            if state.outcome == nil { state.whenOver[state.lastObserver] = body }
            return (state.outcome, state.lastObserver)
        }
        if let outcome { body(outcome) }
        return observer
    }

    /// Doesn't call back any more, unless that is under way.
    func forget(_ observer: Int) {
        let body = state.withLock { $0.whenOver.removeValue(forKey: observer) }
        // Goes outside of the lock. It may hold what the user wrote.
        withExtendedLifetime(body) {}
    }

    /// Is cancelled at its start if another operation has been cancelled by then.
    func watch(_ other: Operation) {
        state.withLock { $0.watched.append(other) }
    }

    /// Adds to the call, as long as it has not been made.
    func prepare(_ change: (inout IntegrationCall<any Sendable>) -> Void) {
        // The change makes a box, and calls nothing of the user's: so it may be made under the lock.
        state.withLock { state in
            if state.call != nil { change(&state.call!) }
        }
    }

    /// Asks what another call asks, as long as the call has not been made.
    func ask(as other: IntegrationCall<any Sendable>) {
        // What was to be asked goes outside of the lock. It may hold what the user wrote.
        let replaced = state.withLock { state in
            defer { state.call = state.call.map { $0.withSource(of: other) } }
            return state.call
        }
        withExtendedLifetime(replaced) {}
    }

    // MARK: What happens to it

    func start(_ operation: Operation) {
        var watched: [Operation] = []
        state.withLock { swap(&$0.watched, &watched) }
        if watched.contains(where: { $0.isCancelled }) { operation.cancel() }
        operation.willChange(.isExecuting)
        // Asked under the lock: a resume that comes later finds the operation started, one that came before is seen
        // here.
        let start = state.withLock { $0.flow.start(isPaused: $0.isPaused) }
        operation.didChange(.isExecuting)
        switch start {
        case .makeCall: makeCall(of: operation)
        case .finish: finish(operation) { $0.finish() }
        case .nothing: break
        }
    }

    /// Cancels, and lets the superclass do so once it is noted.
    func cancel(_ operation: Operation, _ noted: () -> Void) {
        let (cancel, isStarted) = state.withLock { ($0.flow.cancel(), $0.flow.isStarted) }
        noted()
        if !isStarted { changeReadiness(of: operation) {} }
        switch cancel {
        case .turnAway: turnAway(operation)
        case .cancelCall: state.withLock { $0.run?.task }?.cancel(isolation: nil)
        case .nothing: break
        }
    }

    func pause(_ operation: Operation) {
        changeReadiness(of: operation) { state.withLock { $0.needControl() }.pause() }
    }

    func resume(_ operation: Operation) {
        // Without one it was never paused.
        guard let control = state.withLock({ $0.control }) else { return }
        changeReadiness(of: operation) { control.resume() }
        if state.withLock({ $0.flow.resume(isPaused: $0.isPaused) }) { makeCall(of: operation) }
    }

    /// Tells the queue that the operation may be ready now, or no longer, and sees to it that it gets to know.
    private func changeReadiness(of operation: Operation, _ change: () -> Void) {
        #if canImport(ObjectiveC)
        tellReadiness(of: operation, change)
        #else
        let told = tellReadiness(of: operation, change)
        // Somebody else reads later, where this isn't the last change.
        state.withLock { if $0.readinessChanges == told { $0.reading = .told } }
        remind(of: operation, told)
        #endif
    }

    /// A queue that is told reads whether the operation is ready, and keeps that in a second step: what it has read for
    /// one thread it may keep after what it read later for another. So each thread tells again until nobody else has
    /// changed anything meanwhile. Returns the last change it has told of.
    @discardableResult
    private func tellReadiness(of operation: Operation, _ change: () -> Void) -> Int {
        operation.willChange(.isReady)
        change()
        var told = state.withLock { state in
            state.readinessChanges += 1
            return state.readinessChanges
        }
        while true {
            operation.didChange(.isReady)
            let latest = state.withLock { $0.readinessChanges }
            if latest == told { return told }
            told = latest
            operation.willChange(.isReady)
        }
    }

    #if !canImport(ObjectiveC)
    /// Reads whether the operation is ready, for somebody who may keep that.
    ///
    /// Threads of Foundation's own read and keep as well: one that adds the operation to a queue, or on which a
    /// dependency ends. What such a thread has read before a resume, or before the end of the last dependency, it may
    /// keep after another one has found that the operation is ready, and told the queue. The queue then reads once more
    /// and keeps that it is, but starts it only when it comes by again. So who finds it ready for the second time has
    /// the queue told.
    func read(_ isReady: () -> Bool, of operation: Operation) -> Bool {
        if isReady() {
            findReady(operation)
            return true
        }
        let isNew = state.withLock { state in
            defer { state.reading = .unready }
            return state.reading != .unready
        }
        // Whoever found it ready just before this was noted doesn't count any more.
        if isNew, isReady() { findReady(operation) }
        return false
    }

    private func findReady(_ operation: Operation) {
        let change: Int? = state.withLock { $0.reading.findsReady() ? $0.readinessChanges : nil }
        if let change { remind(of: operation, change) }
    }

    /// Tells a few times more, ever later, as long as the operation is ready, isn't started, and nothing else has
    /// changed.
    private func remind(of operation: Operation, _ told: Int, after milliseconds: Int = 1, turns: Int = 6) {
        guard turns > 0, isWaiting(since: told), operation.isReady else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            [weak self, weak operation] in
            guard let self, let operation, isWaiting(since: told) else { return }
            // From then on nobody reminds: whoever comes later than all that is the second again to find it ready.
            if turns == 1 { state.withLock { $0.reading = .unready } }
            let told = tellReadiness(of: operation) {}
            remind(of: operation, told, after: milliseconds * 4, turns: turns - 1)
        }
    }

    /// Whether the operation has not been started yet, and nothing has been told since a change.
    private func isWaiting(since change: Int) -> Bool {
        state.withLock { $0.readinessChanges == change && !$0.flow.isStarted }
    }
    #endif

    // MARK: The call

    private func makeCall(of operation: Operation) {
        // Swapped, here and below: to hand it out of the lock would copy all that it holds.
        var call: IntegrationCall<any Sendable>?
        let control = state.withLock { state in
            swap(&state.call, &call)
            return state.needControl()
        }
        guard let call else { return }
        control.bind { _ = call.call(isolation: nil) { follow($0, operation) } }
    }

    private func turnAway(_ operation: Operation) {
        guard let call = state.withLock({ $0.call.take() }) else { return }
        follow(call.reject(.cancelled), operation)
    }

    private func follow(_ task: IntegrationTask<any Sendable>, _ operation: Operation) {
        let isCancelled = state.withLock { state in
            state.run = (task, operation)
            return state.flow.made()
        }
        if isCancelled { task.cancel(isolation: nil) }
        // Captures this and nothing else: that takes no memory.
        task.whenFinished { self.callEnded() }
    }

    /// The last handler of the call has run. What is chained to it may be under way.
    private func callEnded() {
        guard !end(), let run = state.withLock({ $0.run }) else { return }
        LibraryTask.startLater { _ in
            await run.task.finish()
            self.end(await run.task.outcome)
        }
    }

    /// Ends with an outcome, or else with the last word of the call. Returns false if there is neither.
    @discardableResult
    private func end(_ outcome: Outcome? = nil) -> Bool {
        var run: Run?
        var observers: [Int: @Sendable (Outcome) -> Void] = [:]
        state.withLock { state in
            guard let outcome = outcome ?? state.run?.task.unchainedOutcome else { return }
            state.outcome = outcome
            swap(&state.run, &run)
            swap(&state.whenOver, &observers)
        }
        guard let operation = run?.operation else { return false }
        if !observers.isEmpty, let outcome = self.outcome {
            for observer in observers.inOrder { observer(outcome) }
        }
        finish(operation) { $0.over() }
        return true
    }

    /// Finishes the flow, and tells the queue and whoever else observes. They look at the operation, so they are told
    /// outside of the lock.
    private func finish(_ operation: Operation, _ change: (inout OperationFlow) -> Void) {
        operation.willChange(.isExecuting)
        operation.willChange(.isFinished)
        state.withLock { change(&$0.flow) }
        operation.didChange(.isExecuting)
        operation.didChange(.isFinished)
    }
}

#if !canImport(ObjectiveC)
/// What was read last of whether an operation is ready.
private enum Reading: Sendable {
    case unready
    /// It was found ready since, once.
    case ready
    /// Whoever is to know that it is ready knows, or is told.
    case told

    /// Returns whether somebody is to be told.
    mutating func findsReady() -> Bool {
        defer { self = self == .unready ? .ready : .told }
        return self == .ready
    }
}
#endif

/// What of an operation is observed, by the names that Foundation has for it. A key path says the same, but to find its
/// name takes longer than all else that a queue does when it hears of a change.
private enum ObservedKey: String {
    case isReady, isExecuting, isFinished
}

extension Operation {
    fileprivate func willChange(_ key: ObservedKey) {
        willChangeValue(forKey: key.rawValue)
    }

    fileprivate func didChange(_ key: ObservedKey) {
        didChangeValue(forKey: key.rawValue)
    }
}
