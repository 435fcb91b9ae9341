internal import IDMCore
internal import Synchronization

/// Ends work in which nothing has happened for a time.
///
/// The work runs in a task of its own, so that work which ignores its cancellation can be left behind.
struct SilenceWatch: Sendable {
    /// What is thrown when the time is over.
    struct Silence: Error {}

    let duration: Duration
    let clock: any Clock<Duration>

    /// Does work that says when something happens. Throws ``Silence`` when nothing has for the duration, and a
    /// `CancellationError` as soon as the caller is cancelled; the work is cancelled in both cases.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (_ sound: @escaping @Sendable () -> Void) async throws -> Value
    ) async throws -> Value {
        try await run(work, on: clock)
    }

    private func run<Value: Sendable, C: Clock<Duration>>(
        _ work: @escaping @Sendable (_ sound: @escaping @Sendable () -> Void) async throws -> Value, on clock: C
    ) async throws -> Value {
        try Task.checkCancellation()
        let sounds = Sounds(clock)
        let first = FirstResult<Value>()
        let worker = Task(executorPreference: LibraryTask.executor) {
            do {
                first.end(.success(try await work { sounds.hear() }))
            } catch {
                first.end(.failure(error))
            }
        }
        let timer = Task(executorPreference: LibraryTask.executor) {
            while let rest = sounds.rest(of: duration) {
                guard (try? await clock.sleep(until: rest, tolerance: nil)) != nil else { return }
            }
            if first.end(.failure(Silence())) { worker.cancel() }
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await first.value()
        } onCancel: {
            worker.cancel()
            first.end(.failure(CancellationError()))
        }
    }

    /// When something happened last.
    private final class Sounds<C: Clock<Duration>>: Sendable {
        private let clock: C
        private let last: Mutex<C.Instant>

        init(_ clock: C) {
            self.clock = clock
            last = Mutex(clock.now)
        }

        func hear() {
            let now = clock.now
            last.withLock { $0 = max($0, now) }
        }

        /// When the silence will have lasted for a time. Nil if it has.
        func rest(of duration: Duration) -> C.Instant? {
            // Far enough for anybody, and near enough for the arithmetic of a clock.
            let end = last.withLock { $0 }.advanced(by: min(duration, .seconds(3_155_760_000)))
            return end > clock.now ? end : nil
        }
    }
}
