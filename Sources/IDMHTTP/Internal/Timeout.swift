internal import IDMCore

/// Ends work in which nothing has happened for a time.
///
/// The work runs in a task of its own, so that work which ignores its cancellation can be left behind.
struct Timeout: Sendable {
    /// What is thrown when the time is over.
    struct Expired: Error {}

    let duration: Duration
    let clock: any Clock<Duration>
    /// What the silence doesn't count under, while it pauses.
    var control: PauseControl?
    /// Happens when the time is over, before the work is cancelled. It must be short.
    var onSilence: @Sendable () -> Void = {}

    /// Does work that tells the meter what happens. Throws ``Expired`` when nothing has for the duration, and a
    /// `CancellationError` when the caller is cancelled; the work is cancelled before that in both cases.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (_ meter: any IdleTimer) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let meter = clock.meter(of: duration)
        let first = OneShot<Value>()
        let worker = LibraryTask.startLater { _ in
            do {
                // Its turn may have come late.
                try Task.checkCancellation()
                first.end(.success(try await work(meter)))
            } catch {
                first.end(.failure(error))
            }
        }
        let alarm = meter.onSilence(unless: control) {
            first.end(.failure(Expired())) {
                onSilence()
                worker.cancel()
            }
        }
        defer { alarm.giveUp() }
        return try await LibraryTask.reactingToCancel {
            try await first.value()
        } onCancel: {
            // Decided before the work hears of it: it may answer to that.
            first.end(.failure(CancellationError())) { worker.cancel() }
        }
    }
}
