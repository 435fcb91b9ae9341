import Synchronization

/// Pauses and resumes running requests.
///
/// Pausing is ambient, as progress is: the caller binds a control, and a provider that can pause reads it inside
/// `request`.
///
/// ```swift
/// let control = PauseControl()
/// async let file = control.bind { try await download.request(url) }
/// control.pause()
/// control.resume()
/// ```
///
/// A provider that works in steps checks the control between them:
///
/// ```swift
/// for part in parts {
///     try await PauseControl.checkpoint()
///     try await send(part)
/// }
/// ```
///
/// While its control is paused, a call:
///
/// - delivers no value and no error. A provider that can't pause runs to its end, and the answer is held until the
///   control is resumed. Once ``pause()`` has returned on the actor of the handlers, none of them is called with a
///   value or an error;
/// - doesn't start if it is waiting in its lane, and keeps its place there;
/// - doesn't retry after a failure;
/// - continues a sequence or a chain with the next provider or call, which pauses if it can;
/// - delivers progress until a value is held, and a cancel at any time.
///
/// A shared request is not paused. Each of its callers holds the answer while its own control is paused.
public final class PauseControl: Sendable {
    @TaskLocal private static var bound: PauseControl?
    /// The number of controls in this process. While it is zero, the task-local is not read.
    private static let count = Atomic(0)

    private struct State {
        var isPaused = false
        var waiting = Waiters<Void>()
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastObserver = 0
    }

    private let state = Locked(State())

    /// Creates a control that is not paused.
    public init() { Self.count.add(1, ordering: .relaxed) }

    deinit { Self.count.subtract(1, ordering: .relaxed) }

    // MARK: For the caller

    /// True if requests must pause.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Pauses requests as soon as they can pause. Does nothing if the control is paused.
    public func pause() { change(to: true) }

    /// Resumes requests. Does nothing if the control is not paused.
    public func resume() { change(to: false) }

    private func change(to isPaused: Bool) {
        let (waiting, observers) = state.withLock { state -> (Waiters<Void>, [@Sendable () -> Void]) in
            guard state.isPaused != isPaused else { return (Waiters(), []) }
            state.isPaused = isPaused
            return (isPaused ? Waiters() : state.waiting.removeAll(), state.observers.inOrder)
        }
        for observer in observers { observer() }
        waiting.forEach { $0.resume() }
    }

    /// Runs `operation` on the caller's actor, with this control for the requests that it makes.
    @inline(__always)
    public func bind<R>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> R
    ) async rethrows -> R {
        try await LibraryTask.binding(Self.$bound, to: self, operation)
    }

    /// Runs `body` with this control for the calls that it makes.
    public func bind<R>(_ body: () throws -> R) rethrows -> R {
        try Self.$bound.withValue(self) { try body() }
    }

    /// Runs `body` without a control: for work that several callers share, which none of them may pause for the rest.
    package static func unbind<R>(_ body: () -> R) -> R { rebind(to: nil, body) }

    /// Runs `body` with the given control, or without one, instead of the caller's.
    static func rebind<R>(to control: PauseControl?, _ body: () -> R) -> R {
        guard current !== control else { return body() }
        return $bound.withValue(control, operation: body)
    }

    // MARK: For a provider

    /// The control of the current request, or nil if the request can't be paused.
    ///
    /// Threads outside of the task don't see it. Read it inside `request`, and keep it for that request.
    public static var current: PauseControl? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        return bound
    }

    /// Waits while the current request is paused. Throws `CancellationError` once the task is cancelled.
    public static func checkpoint() async throws {
        try Task.checkCancellation()
        try await current?.waitWhilePaused()
    }

    /// Waits while the control is paused. Throws `CancellationError` once the awaiting task is cancelled.
    public func waitWhilePaused(isolation: isolated (any Actor)? = #isolation) async throws {
        // A loop: the control may be paused again before the resumed task runs.
        while isPaused {
            await LibraryTask.wait(cancelled: ()) { waiter in
                state.withLock { $0.isPaused && $0.waiting.add(waiter) ? nil : () }
            } removing: { id in
                state.withLock { $0.waiting.remove(id) }
            }
            try Task.checkCancellation()
        }
    }

    /// Calls `body` after each change, on the thread that made it, until the returned observation is released.
    ///
    /// Read ``isPaused`` in `body`: of two simultaneous changes either may call first.
    public func observe(_ body: @escaping @Sendable () -> Void) -> Observation {
        let id = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = body
            return state.lastObserver
        }
        return Observation(control: self, id: id)
    }

    /// Keeps an observer registered while it is held.
    public final class Observation: Sendable {
        private let control: PauseControl
        private let id: Int

        fileprivate init(control: PauseControl, id: Int) {
            self.control = control
            self.id = id
        }

        deinit { _ = control.state.withLock { $0.observers.removeValue(forKey: id) } }
    }
}
