internal import IDMCore

/// The time limits of one request: its total time-out, and an idle time-out for each exchange. One timer serves all.
final class Timeout: Sendable {
    struct Expired: Error {}

    /// A limit that was added. Its time starts again with each activity.
    struct Limit: Sendable {
        fileprivate let timeout: Timeout
        fileprivate let id: Int

        func noteActivity() { timeout.restart(id, resumes: true) }

        /// Suspends the limit until the next activity.
        func suspend() { timeout.suspend(id) }

        func cancel() { timeout.remove(id) }
    }

    private struct Entry {
        let duration: Duration
        /// Nil while the limit is suspended.
        var start: Duration?
        let control: PauseControl?
        var observation: PauseControl.Observation?
        /// True from a pause until the notification of its resume.
        var isPaused = false
        /// The number of pauses that were notified.
        var pauses = 0
        /// True if the limit ended within a pause. It starts again with the resume.
        var awaitsResume = false
        /// Nil before the limit is started. Returns true if the limit continues.
        var onExpiry: (@Sendable () -> Bool)?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var lastID = 0
        var timer: ScheduledTimer?
        /// The time of the timer. Nil without one.
        var end: Duration?
        /// Identifies the timer: an earlier one has no effect.
        var timerNumber = 0
    }

    let elapsed: @Sendable () -> Duration
    private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> ScheduledTimer
    private let state = Locked(State())

    init(_ clock: any Clock<Duration>) {
        (elapsed, schedule) = clock.timeline()
    }

    /// Runs work in a task of its own, so that work that ignores its cancellation can be abandoned.
    ///
    /// Throws ``Expired`` at the limit, and a `CancellationError` when the caller is cancelled. The work is cancelled
    /// before that in both cases.
    ///
    /// - Parameters:
    ///   - duration: The time without activity after which the work ends.
    ///   - control: The control whose pauses suspend the limit. The time starts again with the resume.
    ///   - onExpiry: Called at the limit, before the work is cancelled. It must be short.
    ///   - work: The work. It reports its activity to the limit.
    func run<Value: Sendable>(
        _ duration: Duration, control: PauseControl? = nil, onExpiry: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable (Limit) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let limit = add(duration, control: control)
        defer { limit.cancel() }
        let first = OneShot<Value>()
        let worker = LibraryTask.startLater { _ in
            do {
                // It may start late.
                try Task.checkCancellation()
                first.end(.success(try await work(limit)))
            } catch {
                first.end(.failure(error))
            }
        }
        start(limit) {
            first.end(.failure(Expired())) {
                onExpiry()
                worker.cancel()
            }
            return false
        }
        return try await LibraryTask.reactingToCancel {
            try await first.value()
        } onCancel: {
            // Decided before the work is cancelled, since it may return at once.
            first.end(.failure(CancellationError())) { worker.cancel() }
        }
    }

    /// Adds a limit.
    ///
    /// - Parameters:
    ///   - duration: The time without activity.
    ///   - control: The control whose pauses suspend the limit. The time starts again with the resume.
    ///   - onExpiry: Called at the limit. Returns true if the limit continues. It must be short.
    func limit(
        _ duration: Duration, control: PauseControl? = nil, onExpiry: @escaping @Sendable () -> Bool
    ) -> Limit {
        let limit = add(duration, control: control)
        start(limit, onExpiry)
        return limit
    }

    // MARK: Limits

    private func add(_ duration: Duration, control: PauseControl?) -> Limit {
        let now = elapsed()
        // Long enough for any request, and short enough for the arithmetic of clocks.
        let entry = Entry(duration: min(duration, .seconds(Int64(3_155_760_000))), start: now, control: control)
        return state.withLock { state in
            state.lastID += 1
            state.entries[state.lastID] = entry
            return Limit(timeout: self, id: state.lastID)
        }
    }

    private func start(_ limit: Limit, _ onExpiry: @escaping @Sendable () -> Bool) {
        // A pause that ends before it is observed is noticed at the end of the limit.
        let control = state.withLock { $0.entries[limit.id]?.control }
        let wasPaused = control?.isPaused == true
        let observation = control?.observe { [weak self] in self?.controlChanged(limit.id) }
        state.withLock { state in
            state.entries[limit.id]?.observation = observation
            state.entries[limit.id]?.onExpiry = onExpiry
            if wasPaused || control?.isPaused == true { state.entries[limit.id]?.isPaused = true }
        }
        setTimer()
    }

    private func restart(_ id: Int, resumes: Bool) {
        let now = elapsed()
        state.withLock { state in
            guard let start = state.entries[id]?.start else {
                if resumes { state.entries[id]?.start = now }
                return
            }
            state.entries[id]?.start = max(start, now)
        }
    }

    private func suspend(_ id: Int) { state.withLock { $0.entries[id]?.start = nil } }

    private func remove(_ id: Int) {
        // Released outside of the lock. The timer of other limits stays, and finds nothing to do if it is too early.
        let (entry, timer) = state.withLock { state -> (Entry?, ScheduledTimer?) in
            let entry = state.entries.removeValue(forKey: id)
            guard state.entries.isEmpty else { return (entry, nil) }
            defer { (state.timer, state.end, state.timerNumber) = (nil, nil, state.timerNumber + 1) }
            return (entry, state.timer)
        }
        timer?.cancel()
        withExtendedLifetime(entry) {}
    }

    // MARK: The timer

    private func setTimer() {
        let now = elapsed()
        let next = state.withLock { state -> (end: Duration, number: Int)? in
            let ends = state.entries.values.lazy.filter { $0.onExpiry != nil && !$0.awaitsResume }
                .map { ($0.start ?? now) + $0.duration }
            guard let end = ends.min(), state.end.map({ end < $0 }) ?? true else { return nil }
            state.end = end
            state.timerNumber += 1
            return (end, state.timerNumber)
        }
        guard let next else { return }
        let timer = schedule(next.end) { [self] in fire(next.number) }
        let unused = state.withLock { state -> ScheduledTimer? in
            guard state.timerNumber == next.number, state.end != nil else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        unused?.cancel()
    }

    private func fire(_ number: Int) {
        // Before the time: a resume starts the limit again, and then ends the pause.
        let paused = state.withLock { state -> Set<Int>? in
            guard state.timerNumber == number else { return nil }
            return Set(state.entries.filter { $0.value.isPaused || $0.value.control?.isPaused == true }.keys)
        }
        guard let paused else { return }
        let now = elapsed()
        // After the time: an activity in between counts.
        let (resumed, expired) = state.withLock { state -> ([Int], [(id: Int, onExpiry: @Sendable () -> Bool)]) in
            guard state.timerNumber == number else { return ([], []) }
            (state.timer, state.end) = (nil, nil)
            let due = state.entries.keys.sorted().filter { id in
                guard let entry = state.entries[id], let start = entry.start else { return false }
                return !entry.awaitsResume && start + entry.duration <= now
            }
            let inPause = due.filter { paused.contains($0) }
            for id in inPause { state.entries[id]?.awaitsResume = true }
            return (
                inPause,
                due.filter { !paused.contains($0) }.compactMap { id in
                    state.entries[id]?.onExpiry.map { (id, $0) }
                }
            )
        }
        // The resume may have been before that.
        for id in resumed { controlChanged(id) }
        for (id, onExpiry) in expired where !onExpiry() { remove(id) }
        setTimer()
    }

    private func controlChanged(_ id: Int) {
        let pauses = state.withLock { state -> Int? in
            guard let control = state.entries[id]?.control else { return nil }
            guard control.isPaused else { return state.entries[id]?.pauses }
            state.entries[id]?.isPaused = true
            state.entries[id]?.pauses += 1
            return nil
        }
        guard let pauses else { return }
        restart(id, resumes: false)
        state.withLock { state in
            // After a further pause, the notification of its resume does this.
            guard let entry = state.entries[id], entry.pauses == pauses else { return }
            state.entries[id]?.isPaused = entry.control?.isPaused == true
            state.entries[id]?.awaitsResume = false
        }
        setTimer()
    }
}
