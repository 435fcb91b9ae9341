import Synchronization

/// The tasks of a group: the first failure, or a cancel of the group, closes the group and cancels them all.
@usableFromInline
final class TaskGroupLink: Sendable {
    private struct State {
        var tasks: [any CancellableTask] = []
        var failure: (any Error)?
        var isClosed = false
    }

    /// The executor that the tasks of this package prefer, if any.
    @usableFromInline let executor = LibraryTask.preferred
    /// True if a member may fail without failing the group.
    @usableFromInline let isCollecting: Bool
    /// The side requests of the members, unless an enclosing composition has a set of its own.
    @usableFromInline let sideRequests: SideRequests?

    private let state = Locked(State())
    private let watch: (any ActivityTracker)?
    /// The members that haven't ended, and the start of all. Counted for the test kit.
    private let running: Atomic<Int>

    /// - Parameter count: The number of members.
    @usableFromInline
    init(count: Int, isCollecting: Bool) {
        self.isCollecting = isCollecting
        sideRequests = AmbientValues.areUsed && SideRequests.current == nil ? SideRequests() : nil
        watch = executor.flatMap { $0 as? any ActivityTracker }
        running = Atomic(count + 1)
    }

    /// The first failure, if there is one.
    @usableFromInline var failure: (any Error)? { state.withLock { $0.failure } }

    /// True if the group has not failed and was not cancelled.
    var isOpen: Bool { state.withLock { !$0.isClosed } }

    /// Throws if the group has failed or was cancelled: the provider of this member is not asked.
    @usableFromInline
    func checkOpen() throws { if !isOpen { throw CancellationError() } }

    /// Adds the tasks of all members. Cancels them if the group has failed or was cancelled.
    @usableFromInline
    func add(_ tasks: [any CancellableTask]) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.tasks = tasks }
            return state.isClosed
        }
        if isClosed { for task in tasks { task.cancel() } }
        end()
    }

    /// Records that a member has failed. Unless the group collects results, all members are cancelled.
    @usableFromInline
    func fail(_ error: any Error) {
        if !isCollecting { close(failure: error) }
        end()
    }

    /// Cancels all members.
    @usableFromInline
    func cancel() {
        close(failure: nil)
        sideRequests?.cancel()
    }

    private func close(failure: (any Error)?) {
        let tasks = state.withLock { state in
            state.failure = state.failure ?? failure
            state.isClosed = true
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }

    /// Notifies the test kit that a member has ended. After the last one, the awaiting task returns to its own actor, out
    /// of the kit's sight.
    @usableFromInline
    func end() {
        guard let watch else { return }
        let rest = running.subtract(1, ordering: .acquiringAndReleasing).newValue
        if rest == 0 { watch.beginActivity() } else { watch.noteActivity() }
    }

    /// Ends the wait for all members, back in the awaiting task.
    @usableFromInline
    func endWait() { watch?.endActivity() }
}

/// A task that can be cancelled, whatever its result is.
@usableFromInline
protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}

extension Task where Failure == any Error {
    /// The result of the task. Unlike `result`, reading it stays on the caller's actor.
    @inlinable
    func ended() async -> Result<Success, Failure> {
        do {
            return .success(try await value)
        } catch {
            return .failure(error)
        }
    }
}
