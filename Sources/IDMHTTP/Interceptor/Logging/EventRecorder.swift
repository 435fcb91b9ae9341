internal import Synchronization

/// Writes down what happens to a request. Whoever does something to it finds the recorder as the ambient one.
final class EventRecorder: Sendable {
    @TaskLocal static var current: EventRecorder?

    private struct State {
        var events: [HTTPEvent] = []
        var attempts = 0
        var isOver = false
    }

    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) {
        elapsed = clock.stopwatch()
    }

    /// Writes an event down, if anybody listens.
    static func record(_ kind: @autoclosure () -> HTTPEvent.Kind) {
        guard let current else { return }
        current.record(kind())
    }

    /// Writes down that a request goes to the transport.
    static func recordAttempt(bytes: Int?) {
        guard let current else { return }
        current.record(
            .attempt(
                current.state.withLock {
                    $0.attempts += 1; return $0.attempts
                }, bytes: bytes))
    }

    func record(_ kind: HTTPEvent.Kind) {
        let event = HTTPEvent(time: elapsed(), kind: kind)
        state.withLock { if !$0.isOver { $0.events.append(event) } }
    }

    /// Everything that has happened. What was left behind isn't heard any more.
    func end(_ kind: HTTPEvent.Kind) -> [HTTPEvent] {
        record(kind)
        return state.withLock { state in
            state.isOver = true
            return state.events
        }
    }
}
