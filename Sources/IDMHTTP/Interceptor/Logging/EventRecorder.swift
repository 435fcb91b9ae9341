internal import IDMCore

/// Records the events of a request. Code that handles the request finds the recorder in ``current``.
final class EventRecorder: Sendable {
    @TaskLocal static var current: EventRecorder?

    private struct State {
        var events: [HTTPEvent] = []
        var attempts = 0
        var isOver = false
    }

    private let elapsed: @Sendable () -> Duration
    private let onEvent: @Sendable (HTTPEvent.Kind) -> Void
    /// The recorder of an earlier interceptor, which records the same events.
    private let outer: EventRecorder?
    private let state = Locked(State())

    /// - Parameter onEvent: Receives each event when it happens.
    init(clock: any Clock<Duration>, onEvent: @escaping @Sendable (HTTPEvent.Kind) -> Void = { _ in }) {
        elapsed = clock.stopwatch()
        self.onEvent = onEvent
        outer = Self.current
    }

    static func record(_ kind: @autoclosure () -> HTTPEvent.Kind) {
        current?.record(kind())
    }

    static func recordAttempt(bytes: Int?) {
        current?.recordAttempt(bytes: bytes)
    }

    private func recordAttempt(bytes: Int?) {
        let number = state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
        take(.attempt(number, bytes: bytes))
        outer?.recordAttempt(bytes: bytes)
    }

    func record(_ kind: HTTPEvent.Kind) {
        take(kind)
        outer?.record(kind)
    }

    private func take(_ kind: HTTPEvent.Kind) {
        let event = HTTPEvent(time: elapsed(), kind: kind)
        let isRecorded = state.withLock { state in
            if !state.isOver { state.events.append(event) }
            return !state.isOver
        }
        if isRecorded { onEvent(kind) }
    }

    /// Records the end of the request, and returns all events.
    func end(_ kind: HTTPEvent.Kind) -> [HTTPEvent] {
        take(kind)
        return close()
    }

    /// Ignores later events. Returns the events so far.
    @discardableResult
    func close() -> [HTTPEvent] {
        state.withLock { state in
            state.isOver = true
            return state.events
        }
    }
}
