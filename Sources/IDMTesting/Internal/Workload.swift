import IDMCore
import Synchronization

/// Counts the jobs that are on their way or running, and passes them on to the concurrent pool.
///
/// A task that prefers this executor is at rest when none of its jobs is counted: it waits for a clock, for the test,
/// or for something that nobody here knows of. The jobs of the main actor don't come by, nor do those that another
/// actor runs as somebody else leaves it: whoever lets one of the library's tasks there go on tells so, and it tells
/// when it is there; ``rest(of:isolation:)`` waits for its turn.
final class Workload: WorkWatch {
    private struct State {
        var pending = 0
        /// How much has ever come. Two equal readings with nothing pending mean that nothing happened between them.
        var turns: UInt64 = 0
        var waiting: [Int: UnsafeContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        /// Where work has started.
        var actors: [ObjectIdentifier: WeakActor] = [:]
    }

    private struct WeakActor {
        weak var actor: (any Actor)?
        /// No other one's, also where an actor takes the place of one that has gone.
        let number: UInt64
    }

    private let state = Locked(State())
    private let watching = Atomic(false)

    /// Makes tasks prefer this executor from now on.
    ///
    /// Not before somebody has to know: a task with a preferred executor doesn't go on in the turn in which it was
    /// started.
    func beginWatching() {
        watching.store(true, ordering: .releasing)
        LibraryTask.beginWatching()
    }

    var ordersWork: Bool { false }

    var isWatching: Bool { watching.load(ordering: .acquiring) }

    // MARK: The work

    func enqueue(_ job: consuming ExecutorJob) {
        workDeparts()
        let priority = TaskPriority(job.priority)
        let job = UnownedJob(job)
        Task(priority: priority) {
            job.runSynchronously(on: asUnownedTaskExecutor())
            workArrived()
        }
    }

    func stir() {
        state.withLock { $0.turns += 1 }
    }

    func workDeparts() {
        state.withLock { state in
            state.pending += 1
            state.turns += 1
        }
    }

    func workArrived() {
        let waiting = state.withLock { state in
            state.pending -= 1
            guard state.pending == 0 else { return [UnsafeContinuation<Void, Never>]() }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    func workStarts(on actor: any Actor) {
        let id = ObjectIdentifier(actor)
        let others: [ObjectIdentifier: WeakActor] = state.withLock { state in
            state.turns += 1
            // If one is there still, it is this one.
            guard state.actors[id]?.actor == nil else { return [:] }
            defer { state.actors[id] = WeakActor(actor: actor, number: state.turns) }
            return state.actors
        }
        // Outside of the lock: whose owner lets go of it meanwhile ends where it is looked at.
        let gone = others.filter { $0.value.actor == nil }
        guard !gone.isEmpty else { return }
        state.withLock { state in
            for (id, other) in gone where state.actors[id]?.number == other.number { state.actors[id] = nil }
        }
    }

    // MARK: Rest

    /// How much has come so far, or nil while something is pending.
    var turnsAtRest: UInt64? {
        state.withLock { $0.pending == 0 ? $0.turns : nil }
    }

    /// Waits until nothing is pending, or until the task that waits is cancelled.
    func idle() async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await LibraryTask.hearingCancel {
            await withUnsafeContinuation { continuation in
                let isOver = state.withLock { state in
                    // Asked under the lock: a cancel that comes later finds the waiter.
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

    /// Waits until all work that these know of is at rest, or until the task that waits is cancelled.
    ///
    /// With nothing pending, work is left on actors only, where turns are taken in order: on the main actor, on those
    /// where work has started, and on the caller's. A job there that lets another one go on tells so just before. So
    /// two turns are taken on each: after the first ones the job has ended that told last, after the second ones what
    /// it has let go has had its turn. If nothing has been told meanwhile, nothing is left; if something has, there is
    /// another round. So rounds are made for work that was seen, and not for luck.
    static func rest(of workloads: [any WatchedWork], isolation: isolated (any Actor)?) async {
        let isAtRest = Watched(false)
        // A task of its own, which no workload counts: the caller's may be one of those waited for.
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
        // It may be held up by an actor that takes no turns, and who is cancelled isn't.
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
                // Behind everything: an actor takes what is more urgent first, and a task that is waited for becomes as
                // urgent as the one that waits, so nobody waits for this one.
                Task(priority: .background) {
                    if let actor = actor.actor { await Self.cross(actor) }
                    continuation.resume()
                }
            }
        }
    }

    private static let crossings = Atomic(0)

    /// Takes a turn on an actor. Something has to be done there, or the optimizer sees no reason to go.
    private static func cross(_ actor: isolated any Actor) {
        crossings.add(1, ordering: .relaxed)
    }
}

/// What ``Workload/rest(of:isolation:)`` waits for.
protocol WatchedWork: WorkWatch {
    /// Where those wait for whom the order matters in which they hear of a rest.
    var resters: Line? { get }
    /// Somebody has left that line.
    func restWasTold()
    var turnsAtRest: UInt64? { get }
    func idle() async
    /// Takes a turn on each actor where work has started, behind all that waits there.
    func takeTurns() async
}

extension Workload: WatchedWork {
    var resters: Line? { nil }

    func restWasTold() {}
}
