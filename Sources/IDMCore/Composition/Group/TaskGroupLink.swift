/// Links the tasks of a group: the first failure, or a cancel of the group, cancels them all.
@usableFromInline
final class TaskGroupLink: Sendable {
    /// The executor that the tasks of this package prefer, if any.
    @usableFromInline let executor = LibraryTask.preferred

    /// True if a member may fail without failing the group.
    @usableFromInline let isCollecting: Bool

    /// The side requests of the members, unless an enclosing composition has a set of its own.
    @usableFromInline let sideRequests: SideRequests?

    private let watch: (any ActivityTracker)?
    private let machine: Locked<FailFastStateMachine>

    /// - Parameter count: The number of members.
    @usableFromInline
    init(count: Int, isCollecting: Bool) {
        self.isCollecting = isCollecting
        sideRequests = AmbientValues.areUsed && SideRequests.current == nil ? SideRequests() : nil
        watch = executor.flatMap { $0 as? any ActivityTracker }
        machine = Locked(FailFastStateMachine(count: count))
    }

    /// The first failure, if there is one.
    @usableFromInline var failure: (any Error)? { machine.withLock { $0.failure } }

    /// True if the group has not failed and was not cancelled.
    var isOpen: Bool { machine.withLock { $0.isOpen } }

    /// Throws if the group has failed or was cancelled: the provider of this member is not asked.
    @usableFromInline
    func checkOpen() throws {
        if !isOpen { throw CancellationError() }
    }

    /// Adds the tasks of all members. Cancels them if the group has failed or was cancelled.
    @usableFromInline
    func add(_ tasks: [any CancellableTask]) {
        if machine.withLock({ $0.add(tasks) }) {
            for task in tasks { task.cancel() }
        }
    }

    /// Records that a member has succeeded.
    @usableFromInline
    func end() {
        // Only the test kit counts ends. The group awaits its tasks.
        if watch != nil { reportEnd(isLastAwaited: machine.withLock { $0.end() }) }
    }

    /// Records that a member has failed. Unless the group collects results, all members are cancelled.
    @usableFromInline
    func fail(_ error: any Error) {
        guard !isCollecting else { return end() }
        let (isLastAwaited, tasks) = machine.withLock { ($0.end(), $0.fail(error)) }
        for task in tasks { task.cancel() }
        reportEnd(isLastAwaited: isLastAwaited)
    }

    /// Notifies the test kit that a member has ended. After the last one the awaiting task returns to its own actor, out of
    /// the kit's sight.
    private func reportEnd(isLastAwaited: Bool) {
        if isLastAwaited { watch?.beginActivity() } else { watch?.noteActivity() }
    }

    /// Begins the wait for all members.
    @usableFromInline
    func beginWait() {
        if watch != nil { machine.withLock { $0.await() } }
    }

    /// Ends the wait for all members, back in the awaiting task.
    @usableFromInline
    func endWait() {
        if let watch, machine.withLock({ $0.isAwaited }) { watch.endActivity() }
    }

    /// Cancels all members.
    @usableFromInline
    func cancel() {
        for task in machine.withLock({ $0.cancel() }) { task.cancel() }
        sideRequests?.cancel()
    }
}

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
