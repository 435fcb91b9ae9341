import IDMCore

/// Runs tasks one job at a time, in an order drawn from a seed. Made by
/// ``explore(seeds:patience:clock:fileID:filePath:line:column:_:)``.
///
/// What prefers it is ordered: the body of an exploration, its child tasks, the tasks that the library starts from
/// there, and those that you start with it: `Task(executorPreference: executor) { … }`. A `Task { … }` without it, and
/// code of the main actor, are not.
public final class DeterministicExecutor: TaskExecutor {
    /// Who draws the jobs, and waits for one.
    private typealias Driver = UnsafeContinuation<UnownedJob?, Never>

    private struct State {
        var jobs: [UnownedJob] = []
        var generator: SplitMix
        var isRunning = false
        /// Whether the operation has succeeded: the order is over once nothing can run any more.
        var isEnding = false
        /// Whether the order isn't to wait for that: it is over once no job runs.
        var isHurried = false
        /// Whether something could still run when the order was over for that reason.
        var isCut = false
        /// Whether the order is over: from then on jobs go to the pool.
        var isOver = false
        var turns: UInt64 = 0
        /// How many tasks are on their way to somewhere else.
        var trips = 0
        /// How many explorations go on within this one.
        var explorations = 0
        var driver: Driver?
        var idling: [Int: UnsafeContinuation<Void, Never>] = [:]
        var lastIdler = 0

        var isAtRest: Bool { jobs.isEmpty && !isRunning && trips == 0 }

        /// The order is over. Whoever draws the jobs is told.
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
    /// One at a time: whoever is told of a rest is told by the pool, whose order is nobody's.
    let resters: Line? = Line()

    init(seed: UInt64) {
        state = Locked(State(generator: SplitMix(seed: seed)))
        LibraryTask.beginWatching()
    }

    /// Takes a job, which runs when the order has come to it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (driver, isOver) = state.withLock { state in
            state.turns += 1
            guard !state.isOver else { return (Driver?.none, true) }
            state.jobs.append(job)
            guard let driver = state.driver else { return (nil, false) }
            state.driver = nil
            return (driver, false)
        }
        if isOver {
            Task { job.runSynchronously(on: asUnownedTaskExecutor()) }
        } else {
            driver?.resume(returning: state.withLock { $0.draw() })
        }
    }

    // MARK: The order

    /// Runs an operation, and whatever prefers this executor meanwhile, one job at a time.
    ///
    /// - Throws: What the operation throws; ``Stall`` if it waits for what never comes, and is to be left behind;
    ///   ``Cut`` if the task is cancelled while what the operation has left goes on.
    func run(
        patience: Duration, clock: any Clock<Duration>, _ operation: @escaping @Sendable () async throws -> Void
    ) async throws {
        let outcome = Watched<Result<Void, any Error>?>(nil)
        let body = LibraryTask.$executor.withValue(self) {
            Task(executorPreference: self) {
                let result: Result<Void, any Error>
                do {
                    result = .success(try await operation())
                } catch {
                    result = .failure(error)
                }
                // What a body that fails leaves behind is nobody's: it may have been about to end it.
                if case .success = result { self.change { $0.isEnding = true } } else { self.end() }
                outcome.change { $0 = $0 ?? result }
            }
        }
        let driver = Task { await drive() }
        let watcher = Task {
            guard await stalls(for: patience, on: clock) else { return }
            end()
            outcome.change { $0 = $0 ?? .failure(Stall(patience: patience, body: body)) }
        }
        await LibraryTask.hearingCancel {
            try? await outcome.wait(deaf: true) { $0 != nil }
        } onCancel: {
            body.cancel()
        }
        watcher.cancel()
        // What was left behind may go on for ever.
        await LibraryTask.hearingCancel {
            await driver.value
        } onCancel: {
            change { $0.isHurried = true }
        }
        try outcome.value?.get()
        if state.withLock({ $0.isCut }) { throw Cut() }
    }

    /// Whether nothing can run any more, and nobody outside changes that for a while. False when the task is cancelled.
    private func stalls(for patience: Duration, on clock: any Clock<Duration>) async -> Bool {
        while !Task.isCancelled {
            await Workload.rest(of: [self], isolation: nil)
            let turns = turnsAtStandstill
            guard (try? await clock.pause(for: patience)) != nil else { return false }
            if turns != nil && turns == turnsAtStandstill { return true }
        }
        return false
    }

    /// How much has come so far, or nil while something can run, or somebody is to be told of a rest: that is on its
    /// way, however long the pool and the main actor take for it.
    private var turnsAtStandstill: UInt64? {
        isSomebodyResting || state.withLock { $0.explorations > 0 } ? nil : turnsAtRest
    }

    private var isSomebodyResting: Bool { resters?.isEmpty == false }

    private func drive() async {
        while let job = await next() {
            job.runSynchronously(on: asUnownedTaskExecutor())
            rest()
        }
    }

    /// The next job, once there is one. Nil when the order is over and no job is left.
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

    /// A job has come to its end.
    private func rest() {
        change { $0.isRunning = false }
    }

    /// Changes what there is to do, and lets those go on who wait until there is nothing.
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

    /// The order is over if nothing is left of it, or if that isn't waited for. Whoever waits to be told of a rest goes
    /// on after that.
    private func endIfDue(_ state: inout State) {
        guard state.isEnding, !state.isOver, !state.isRunning else { return }
        let isLeft = !state.isAtRest || isSomebodyResting || state.explorations > 0
        guard !isLeft || state.isHurried else { return }
        (state.isOver, state.isCut) = (true, isLeft)
    }

    func restWasTold() { change { _ in } }

    /// A task waits for an exploration within this one, which runs elsewhere and comes to an end by itself. It puts off
    /// no rest: it may wait for what a clock at rest brings.
    func explorationBegins() { change { $0.explorations += 1 } }

    func explorationEnds() {
        change { state in
            state.turns += 1
            state.explorations -= 1
        }
    }

    /// The order is over. What is still in line runs, and what comes later goes to the pool.
    private func end() {
        state.withLock { $0.end() }?.resume(returning: nil)
    }
}

/// What an operation has left behind goes on, and is to be left.
struct Cut: Error {}

/// An operation waits for what never comes.
struct Stall: Error, CustomStringConvertible {
    let patience: Duration
    let body: Task<Void, Never>

    /// Cancels what waits. It has still to come to its end, where it hears that.
    func leaveBody() { body.cancel() }

    var description: String { "the body had not ended, and for \(patience) nothing was left that could run" }
}

extension DeterministicExecutor: WatchedWork {
    package var isWatching: Bool { true }
    package var ordersWork: Bool { true }

    package func stir() {
        state.withLock { $0.turns += 1 }
    }

    package func workDeparts() {
        state.withLock { state in
            state.turns += 1
            state.trips += 1
        }
    }

    package func workArrived() {
        change { $0.trips -= 1 }
    }

    // Nobody else is on an actor here: whatever is, is in the line.
    package func workStarts(on actor: any Actor) {}

    func takeTurns() async {}

    var turnsAtRest: UInt64? {
        state.withLock { $0.isAtRest ? $0.turns : nil }
    }

    func idle() async {
        let id = state.withLock { state in
            state.lastIdler += 1
            return state.lastIdler
        }
        await LibraryTask.hearingCancel {
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
