import Synchronization

/// Pauses requests that are under way, and lets them go on.
///
/// Pausing is ambient, as progress is: whoever asks binds a control, and any provider below that can pause looks for it
/// inside `request`.
///
/// ```swift
/// let control = PauseControl()
/// async let file = control.bind { try await download.request(url) }
/// control.pause()
/// control.resume()
/// ```
///
/// A provider that works in steps waits between them:
///
/// ```swift
/// for part in parts {
///     try await PauseControl.checkpoint()
///     try await send(part)
/// }
/// ```
///
/// A call that is made with a control bound to it holds back what its provider answers while the control pauses, so a
/// provider that knows nothing of pausing is paused at its end. So is one whose requests are shared, for the callers
/// that pause and not for the others. A call that waits for its turn doesn't begin when that comes, and keeps its place
/// as one that runs does; nothing is asked again after a failure; and a sequence goes on with its next provider, as a
/// chain does with its next call, which pauses if it can. Once ``pause()`` returns on the actor of the handlers, no
/// value and no error is heard before the control is resumed. Progress is heard until something is held back, and a
/// cancel goes through at any time.
public final class PauseControl: Sendable {
    @TaskLocal private static var bound: PauseControl?
    /// How many controls there are in this process. Where there is none, nobody has to look for one.
    private static let count = Atomic(0)

    private struct State {
        var isPaused = false
        var waiting = Waiters<Void>()
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastObserver = 0
    }

    private let state = Locked(State())

    /// Makes a control that does not pause.
    public init() {
        Self.count.add(1, ordering: .relaxed)
    }

    deinit {
        Self.count.subtract(1, ordering: .relaxed)
    }

    // MARK: For whoever asks

    /// Whether requests are to pause.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Lets requests pause as soon as they can. Pausing twice does nothing more.
    public func pause() {
        change(to: true)
    }

    /// Lets requests go on. Resuming what isn't paused does nothing.
    public func resume() {
        change(to: false)
    }

    private func change(to isPaused: Bool) {
        let (waiting, observers) = state.withLock {
            state -> ([WatchedContinuation<Void, Never>], [@Sendable () -> Void]) in
            guard state.isPaused != isPaused else { return ([], []) }
            state.isPaused = isPaused
            return (isPaused ? [] : state.waiting.removeAll(), state.observers.inOrder)
        }
        for observer in observers { observer() }
        for continuation in waiting { continuation.resume() }
    }

    /// Runs an operation whose requests this control pauses, on the caller's actor.
    @inline(__always)
    public func bind<R>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> R
    ) async rethrows -> R {
        try await LibraryTask.binding(Self.$bound, to: self, operation)
    }

    /// Runs a function whose calls this control pauses.
    public func bind<R>(_ body: () throws -> R) rethrows -> R {
        try Self.$bound.withValue(self) { try body() }
    }

    /// Runs a function whose calls no control pauses: for work that several callers share, of whom one is not to pause
    /// it for the others.
    package static func unbind<R>(_ body: () -> R) -> R {
        rebind(to: nil, body)
    }

    /// Runs a function whose calls are paused by a control, or by none, whatever pauses the caller.
    static func rebind<R>(to control: PauseControl?, _ body: () -> R) -> R {
        guard current !== control else { return body() }
        return $bound.withValue(control, operation: body)
    }

    // MARK: For a provider

    /// The control of whoever asks, or nil if nobody may pause the request.
    ///
    /// Threads that aren't part of the task don't see it: take it inside `request` and keep it for that request.
    public static var current: PauseControl? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        return bound
    }

    /// Waits here while whoever asks has paused the request. Throws `CancellationError` once the task is cancelled.
    public static func checkpoint() async throws {
        try Task.checkCancellation()
        try await current?.waitWhilePaused()
    }

    /// Waits until the control does not pause. Throws `CancellationError` once the awaiting task is cancelled.
    public func waitWhilePaused(isolation: isolated (any Actor)? = #isolation) async throws {
        // A loop: by the time that a waiter which was let go comes to run, it may be paused again.
        while let id = state.withLock({ $0.isPaused ? $0.waiting.newID() : nil }) {
            await LibraryTask.hearingCancel {
                await LibraryTask.wait { continuation in
                    let goesOn = state.withLock { state in
                        // Under the lock: a cancel that comes later finds the waiter, one that came before is seen
                        // here.
                        if !state.isPaused || Task.isCancelled { return true }
                        state.waiting.add(continuation, id)
                        return false
                    }
                    if goesOn { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiting.remove(id) }?.resume()
            }
            try Task.checkCancellation()
        }
    }

    /// Calls back after each change, on the thread that made it, until the observation is let go. Ask ``isPaused``
    /// there: of two changes that are made at once, either may call back first.
    public func observe(_ body: @escaping @Sendable () -> Void) -> Observation {
        let id = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = body
            return state.lastObserver
        }
        return Observation(control: self, id: id)
    }

    /// Keeps an observer of a control for as long as it is held.
    public final class Observation: Sendable {
        private let control: PauseControl
        private let id: Int

        fileprivate init(control: PauseControl, id: Int) {
            self.control = control
            self.id = id
        }

        deinit {
            _ = control.state.withLock { $0.observers.removeValue(forKey: id) }
        }
    }
}
