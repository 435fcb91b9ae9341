public import Foundation
public import IDMCore

/// An asynchronous operation that carries a result. What ``DataProviderOperation`` and ``IntegrationOperation`` have in
/// common.
///
/// It takes part in a queue as any operation does, with dependencies, priorities and `completionBlock`. It is finished
/// only after its handlers have run, so whatever depends on it finds everything done. Handlers that were written on the
/// main actor run there: who waits for the operation on the main thread, and holds that up, waits for ever.
///
/// Cancelling ends the call at once, also one whose provider doesn't stop, and ends an operation that has not been
/// started without asking its provider. As Foundation wants it, one that waits in a queue is finished as soon as the
/// queue has come to it.
///
/// All of its state stands under locks or doesn't change, so it may be used from any thread. The compiler can't see
/// that: Foundation's class is unchecked, and a class that inherits from it has to say so once more.
public class ResultOperation<Output: Sendable>: Operation, @unchecked Sendable {
    private let work: OperationWork

    init(_ call: IntegrationCall<Output>) {
        work = OperationWork(call.erased)
        super.init()
    }

    /// Makes an operation around a call that has this output.
    init(erased call: IntegrationCall<any Sendable>) {
        work = OperationWork(call)
        super.init()
    }

    #if !canImport(ObjectiveC)
    deinit {
        // One by one: each would let go of the one before it from inside of its own end, and a long chain has no room
        // on the stack for that.
        var rest = unchain()
        if !rest.isEmpty { letGo() }
        while var operation = rest.popLast() {
            guard isKnownUniquelyReferenced(&operation) else { continue }
            rest += operation.unchain()
            (operation as? any Chained)?.letGo()
        }
    }

    fileprivate func letGo() {
        work.letGo()
    }
    #endif

    // MARK: The result

    /// How the operation ended. Nil until its last handler has run.
    public var outcome: IntegrationOutcome<Output>? { work.outcome?.typed() }

    /// The value, for a stream the last one, once the last handler has run. Waits for an operation that hasn't ended;
    /// one that nobody starts and nobody cancels never does.
    ///
    /// Throws `CancellationError` if and only if the awaiting task was cancelled, which leaves the operation alone, and
    /// `IntegrationError.cancelled` if the operation was.
    public var value: Output {
        get async throws {
            try await Ending(operation: self).request().get()
        }
    }

    /// Calls back when the last handler has run, before the queue hears that the operation is finished; at once if it
    /// has. Returns what ``forget(_:)`` takes.
    @discardableResult
    func whenOver(_ body: @escaping @Sendable (IntegrationOutcome<Output>) -> Void) -> Int {
        work.whenOver { body($0.typed()) }
    }

    /// Doesn't call back any more, unless that is under way.
    func forget(_ observer: Int) {
        work.forget(observer)
    }

    /// Is cancelled at its start if another operation has been cancelled by then.
    func watch(_ other: Operation) {
        work.watch(other)
    }

    /// Adds to the call, as long as it has not been made.
    func prepare(_ change: (inout IntegrationCall<any Sendable>) -> Void) {
        work.prepare(change)
    }

    /// Asks what another call asks, as long as the call has not been made.
    func ask(as other: IntegrationCall<any Sendable>) {
        work.ask(as: other)
    }

    // MARK: What Foundation asks

    /// True.
    public override var isAsynchronous: Bool { true }

    /// Whether the operation may start: its dependencies are finished and it is not paused; or it is cancelled.
    public override var isReady: Bool {
        #if canImport(ObjectiveC)
        mayStart
        #else
        work.read({ mayStart }, of: self)
        #endif
    }

    private var mayStart: Bool { super.isReady && (!isPaused || isCancelled) }

    /// Whether the operation has been started and isn't finished.
    public override var isExecuting: Bool { work.isExecuting }

    /// Whether the operation has been started and its last handler has run. One that was cancelled before is finished
    /// as soon as its queue has started it.
    public override var isFinished: Bool { work.isFinished }

    /// Starts the operation. Its queue calls this; without a queue, call it yourself. Starting twice does nothing.
    public override func start() {
        work.start(self)
    }

    /// Cancels the operation. It is told once, however often this is called, and not after the end of its call: from
    /// then on this cancels what is chained to the call, which may still keep the operation from being finished.
    public override func cancel() {
        work.cancel(self) { super.cancel() }
    }

    // MARK: Pausing

    /// Whether the operation is paused.
    public var isPaused: Bool { work.isPaused }

    /// Pauses the operation. One that waits isn't started, and one that is started all the same, by hand or by a queue
    /// that was about to, begins its work when it is resumed; so does one whose call still waits for its turn in an
    /// integrator. While it runs, a provider that can pause does, and one that can't goes on and its answer is held
    /// back: `PauseControl` says more of that. Pausing twice does nothing more.
    public func pause() {
        work.pause(self)
    }

    /// Lets the operation go on. Resuming what isn't paused does nothing.
    public func resume() {
        work.resume(self)
    }
}

#if !canImport(ObjectiveC)
extension ResultOperation: Chained {}

extension Operation {
    /// Lets go of what it waits for, and returns that: it goes with nobody else's end. To be called when nobody needs
    /// the operation any more.
    ///
    /// Outside of Apple's platforms, what an operation has waited for still points to it, and would look for it at its
    /// end.
    fileprivate func unchain() -> [Operation] {
        let dependencies = dependencies
        for dependency in dependencies { removeDependency(dependency) }
        return dependencies
    }
}

/// An operation that may hold those it waits for by more than its dependencies.
private protocol Chained: Operation {
    func letGo()
}
#endif

/// The end of an operation, as something to wait for.
private struct Ending<Output: Sendable>: CallbackDataProvider {
    let operation: ResultOperation<Output>

    func request(
        _ input: Void, completion: @escaping @Sendable (Result<IntegrationOutcome<Output>, any Error>) -> Void
    ) -> CancelHandler? {
        let observer = operation.whenOver { completion(.success($0)) }
        return { [operation] in operation.forget(observer) }
    }
}
