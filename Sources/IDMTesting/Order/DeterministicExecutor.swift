import IDMCore

/// Runs tasks one job at a time, in an order drawn from a seed. See
/// ``explore(seeds:patience:fileID:filePath:line:column:_:)``.
///
/// It orders the tasks that prefer it: the body of an exploration, its child tasks, the tasks that the library starts
/// from there, and tasks of yours that are started with it: `Task(executorPreference: executor) { … }`. It doesn't order
/// a `Task { … }` without it, nor code on the main actor.
public final class DeterministicExecutor: TaskExecutor {
    /// The driver, which waits for the next job.
    private typealias Driver = UnsafeContinuation<UnownedJob?, Never>

    private struct State {
        var jobs: [UnownedJob] = []
        var generator: SplitMix
        var isRunning = false
        /// True if the body has returned: the order ends when nothing can run any more.
        var isEnding = false
        /// True if the exploration is cancelled: the order ends as soon as no job runs.
        var isCancelled = false
        /// True if the order has ended: later jobs go to the pool.
        var isOver = false
        /// Increases with everything that happens.
        var turns: UInt64 = 0
        /// The number of tasks on their way to another executor.
        var trips = 0
        var driver: Driver?
        var idling: [Int: UnsafeContinuation<Void, Never>] = [:]
        var lastIdler = 0

        var isAtRest: Bool { jobs.isEmpty && !isRunning && trips == 0 }

        /// Ends the order, and returns the driver to resume.
        mutating func end() -> Driver? {
            isOver = true
            return driver.take()
        }

        mutating func draw() -> UnownedJob? {
            guard !jobs.isEmpty else { return nil }
            isRunning = true
            return jobs.remove(at: Int.random(in: jobs.indices, using: &generator))
        }
    }

    private let state: Locked<State>
    /// Tasks that wait for rest are resumed one by one: the pool that resumes them has no order of its own.
    let resters: TurnQueue? = TurnQueue()

    init(seed: UInt64) {
        state = Locked(State(generator: SplitMix(seed: seed)))
        LibraryTask.beginTracking()
    }

    /// Takes a job, and runs it when it is drawn.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (driver, isOver) = state.withLock { state in
            state.turns += 1
            guard !state.isOver else { return (Driver?.none, true) }
            state.jobs.append(job)
            return (state.driver.take(), false)
        }
        if isOver {
            Task { job.runSynchronously(on: asUnownedTaskExecutor()) }
        } else {
            driver?.resume(returning: state.withLock { $0.draw() })
        }
    }

    // MARK: The order

    /// Runs an operation, and the tasks that prefer this executor, one job at a time.
    ///
    /// - Throws: The error of the operation; ``Standstill``, if nothing can run and the operation hasn't ended.
    func run(patience: Duration, _ operation: @escaping @Sendable () async throws -> Void) async throws {
        let outcome = Observed<Result<Void, any Error>?>(nil)
        let body = LibraryTask.$executor.withValue(self) {
            Task(executorPreference: self) {
                let result: Result<Void, any Error>
                do {
                    result = .success(try await operation())
                    self.change { $0.isEnding = true }
                } catch {
                    // A body that fails may have been about to end what it leaves behind: that isn't waited for.
                    result = .failure(error)
                    self.end()
                }
                outcome.change { $0 = $0 ?? result }
            }
        }
        let driver = Task { await drive() }
        let watcher = Task {
            guard await standsStill(for: patience) else { return }
            end()
            outcome.change { $0 = $0 ?? .failure(Standstill(patience: patience, body: body)) }
        }
        await LibraryTask.reactingToCancel {
            try? await outcome.wait(ignoringCancel: true) { $0 != nil }
            await driver.value
        } onCancel: {
            body.cancel()
            change { $0.isCancelled = true }
        }
        watcher.cancel()
        try outcome.value?.get()
        try Task.checkCancellation()
    }

    /// Waits until nothing can run, and no work elsewhere changes that for a while. Returns false if the watching task
    /// is cancelled.
    private func standsStill(for patience: Duration) async -> Bool {
        while !Task.isCancelled {
            await QuiescenceTracker.rest(of: [self], isolation: nil)
            let turns = turnsAtStandstill
            // In slices: a cancelled exploration has no patience.
            var rest = patience
            while rest > .zero, !state.withLock({ $0.isCancelled }) {
                let slice = min(rest, .milliseconds(50))
                guard (try? await Task.sleep(for: slice)) != nil else { return false }
                rest -= slice
                if turns == nil || turns != turnsAtStandstill { break }
            }
            if turns != nil && turns == turnsAtStandstill { return true }
        }
        return false
    }

    /// A reading of the turns, or nil while something can run, or while a task is about to be resumed by a rest.
    private var turnsAtStandstill: UInt64? { isAnyoneResting ? nil : turnsAtRest }

    private var isAnyoneResting: Bool { resters?.isEmpty == false }

    private func drive() async {
        while let job = await next() {
            job.runSynchronously(on: asUnownedTaskExecutor())
            change { $0.isRunning = false }
        }
    }

    /// Waits for the next job. Returns nil when the order has ended and no job is left.
    private func next() async -> UnownedJob? {
        await withUnsafeContinuation { continuation in
            let (job, driver): (UnownedJob?, Driver?) = state.withLock { state in
                endIfDue(&state)
                if let job = state.draw() { return (job, continuation) }
                state.driver = continuation
                return (nil, state.isOver ? state.end() : nil)
            }
            driver?.resume(returning: job)
        }
    }

    /// Changes the state, and resumes the tasks that wait for rest or for the end.
    private func change(_ change: (inout State) -> Void) {
        let (idling, driver): ([UnsafeContinuation<Void, Never>], Driver?) = state.withLock { state in
            change(&state)
            endIfDue(&state)
            let driver = state.isOver ? state.end() : nil
            guard state.isAtRest else { return ([], driver) }
            defer { state.idling = [:] }
            return (Array(state.idling.values), driver)
        }
        for continuation in idling { continuation.resume() }
        driver?.resume(returning: nil)
    }

    private func endIfDue(_ state: inout State) {
        guard state.isEnding, !state.isOver, !state.isRunning else { return }
        state.isOver = state.isCancelled || (state.isAtRest && !isAnyoneResting)
    }

    func restWasTold() { change { _ in } }

    /// Ends the order. Jobs that wait still run, and later jobs go to the pool.
    private func end() {
        state.withLock { $0.end() }?.resume(returning: nil)
    }
}

/// The body of an exploration waits for something that doesn't happen in this order.
struct Standstill: Error, CustomStringConvertible {
    let patience: Duration
    let body: Task<Void, Never>

    var description: String { "the body had not ended, and for \(patience) nothing was left that could run" }
}

extension DeterministicExecutor: TrackedWork {
    package var isTracking: Bool { true }
    package var ordersWork: Bool { true }

    package func noteActivity() {
        state.withLock { $0.turns += 1 }
    }

    package func beginActivity() {
        state.withLock { state in
            state.turns += 1
            state.trips += 1
        }
    }

    package func endActivity() {
        change { $0.trips -= 1 }
    }

    // Work on actors is in the order as well.
    package func activityStarts(on actor: any Actor) {}

    func takeTurns() async {}

    var turnsAtRest: UInt64? {
        state.withLock { $0.isAtRest ? $0.turns : nil }
    }

    func idle() async {
        let id = state.withLock { state in
            state.lastIdler += 1
            return state.lastIdler
        }
        await LibraryTask.reactingToCancel {
            await withUnsafeContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isAtRest || Task.isCancelled { return true }
                    state.idling[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.idling.removeValue(forKey: id) }?.resume()
        }
    }
}
