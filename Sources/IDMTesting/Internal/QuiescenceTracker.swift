import IDMCore
import Synchronization

/// Counts the jobs that are pending or running, and forwards them to the concurrent pool.
///
/// The tasks that prefer this executor are at rest when no job is counted: they wait for a clock, for the test, or for
/// work that isn't tracked. Jobs of the main actor don't pass here, nor do jobs that an actor runs directly after
/// another task's: the library's continuations report when they are resumed there and when the task has arrived, and
/// ``rest(of:isolation:)`` waits for their turns.
final class QuiescenceTracker: ActivityTracker {
    private struct State {
        var pending = 0
        /// Increases with everything that happens. Equal readings at rest mean that nothing happened in between.
        var turns: UInt64 = 0
        var waiting: [Int: UnsafeContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        /// The actors on which work has started.
        var actors: [ObjectIdentifier: WeakActor] = [:]
    }

    private struct WeakActor {
        weak var actor: (any Actor)?
        /// Distinguishes an actor from a released one with the same address.
        let number: UInt64
    }

    private let state = Locked(State())
    private let watching = Atomic(false)

    /// Makes tasks prefer this executor from now on, and not earlier than a clock needs it: a task with a preferred
    /// executor doesn't start in its caller's turn.
    func beginTracking() {
        watching.store(true, ordering: .releasing)
        LibraryTask.beginTracking()
    }

    var ordersWork: Bool { false }

    var isTracking: Bool { watching.load(ordering: .acquiring) }

    // MARK: The work

    func enqueue(_ job: consuming ExecutorJob) {
        beginActivity()
        let priority = TaskPriority(job.priority)
        let job = UnownedJob(job)
        Task(priority: priority) {
            job.runSynchronously(on: asUnownedTaskExecutor())
            endActivity()
        }
    }

    func noteActivity() {
        state.withLock { $0.turns += 1 }
    }

    func beginActivity() {
        state.withLock { state in
            state.pending += 1
            state.turns += 1
        }
    }

    func endActivity() {
        let waiting = state.withLock { state in
            state.pending -= 1
            guard state.pending == 0 else { return [UnsafeContinuation<Void, Never>]() }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    func activityStarts(on actor: any Actor) {
        let id = ObjectIdentifier(actor)
        let others: [ObjectIdentifier: WeakActor] = state.withLock { state in
            state.turns += 1
            guard state.actors[id]?.actor == nil else { return [:] }
            defer { state.actors[id] = WeakActor(actor: actor, number: state.turns) }
            return state.actors
        }
        // Outside of the lock: a look may release an actor for the last time.
        let gone = others.filter { $0.value.actor == nil }
        guard !gone.isEmpty else { return }
        state.withLock { state in
            for (id, other) in gone where state.actors[id]?.number == other.number { state.actors[id] = nil }
        }
    }

    // MARK: Rest

    /// A reading of the turns, or nil while work is pending.
    var turnsAtRest: UInt64? {
        state.withLock { $0.pending == 0 ? $0.turns : nil }
    }

    /// Waits until nothing is pending, or until the task is cancelled.
    func idle() async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await LibraryTask.reactingToCancel {
            await withUnsafeContinuation { continuation in
                let isOver = state.withLock { state in
                    // Under the lock: a later cancel finds the waiter.
                    if state.pending == 0 || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Waits until all tracked work is at rest, or until the task is cancelled.
    ///
    /// With nothing pending, work is left on actors only, which take turns in order. A job there reports just before it
    /// resumes a job. So this takes two turns on each actor: after the first, the job that reported last has
    /// ended; after the second, the job that it resumed has run. If nothing was reported in between, nothing is left;
    /// otherwise there is another round.
    static func rest(of workloads: [any TrackedWork], isolation: isolated (any Actor)?) async {
        let isAtRest = Observed(false)
        // A task that isn't counted: the caller may be one of the tasks that are waited for.
        let watcher = Task {
            _ = isolation
            while !Task.isCancelled {
                for workload in workloads { await workload.idle() }
                let before = workloads.map(\.turnsAtRest)
                for _ in 0..<2 {
                    await crossMainActor()
                    for workload in workloads { await workload.takeTurns() }
                }
                let after = workloads.map(\.turnsAtRest)
                if before == after && !after.contains(nil) { break }
            }
            isAtRest.change { $0 = true }
        }
        // The task may be held up by an actor that takes no turns. A cancelled caller isn't.
        try? await isAtRest.wait { $0 }
        watcher.cancel()
    }

    @concurrent
    private static func crossMainActor() async {
        await cross(MainActor.shared)
    }

    func takeTurns() async {
        for actor in state.withLock({ Array($0.actors.values) }) {
            await withUnsafeContinuation { continuation in
                // In the background: an actor takes urgent jobs first. The task isn't awaited, because that would
                // raise its priority.
                Task(priority: .background) {
                    if let actor = actor.actor { await Self.cross(actor) }
                    continuation.resume()
                }
            }
        }
    }

    private static let crossings = Atomic(0)

    /// Takes a turn on an actor. The counter keeps the optimizer from removing it.
    private static func cross(_ actor: isolated any Actor) {
        crossings.add(1, ordering: .relaxed)
    }
}

/// Work that ``QuiescenceTracker/rest(of:isolation:)`` waits for.
protocol TrackedWork: ActivityTracker {
    /// The queue of tasks that wait for rest, if their order is part of an explored schedule.
    var resters: TurnQueue? { get }
    /// A task has left that queue.
    func restWasTold()
    var turnsAtRest: UInt64? { get }
    func idle() async
    /// Takes a turn on each actor on which work has started, behind its other jobs.
    func takeTurns() async
}

extension QuiescenceTracker: TrackedWork {
    var resters: TurnQueue? { nil }

    func restWasTold() {}
}
