/// What link requests together that run side by side, each in a task of its own: the first failure, and a cancel, end
/// them all. Made by groups; not for use outside of the package.
public final class _TaskGroupLink: Sendable {
    /// The executor that the tasks of this package prefer, if any.
    @usableFromInline let executor = LibraryTask.preferred

    /// Whether one may fail without failing the others.
    @usableFromInline let isCollecting: Bool

    private let watch: (any WorkWatch)?
    private let machine = Locked(FailFastStateMachine())

    @usableFromInline
    init(isCollecting: Bool = false) {
        self.isCollecting = isCollecting
        watch = executor.flatMap { $0 as? any WorkWatch }
        // Then none is asked at all.
        if Task.isCancelled { cancel() }
    }

    /// The first failure, if there is one.
    @usableFromInline var failure: (any Error)? { machine.withLock { $0.failure } }

    /// Whether all have answered.
    @usableFromInline var isFulfilled: Bool { machine.withLock { $0.isFulfilled } }

    /// One is about to start. False if its provider isn't to be asked, as the others have failed or were cancelled.
    @usableFromInline
    func start() -> Bool {
        machine.withLock { $0.start() }
    }

    /// One has started, in this task.
    @usableFromInline
    func add(_ task: any CancellableTask) {
        if machine.withLock({ $0.add(task) }) { task.cancel() }
    }

    /// The task of one whose provider isn't asked. Over at once where the platform can: who waits for it comes from
    /// nowhere.
    @usableFromInline
    func refused<Output: Sendable>() -> Task<Output, any Error> {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task { throw CancellationError() }
        }
        return Task.immediate { throw CancellationError() }
    }

    @usableFromInline
    func end() {
        let isAwaited = machine.withLock { machine in
            defer { machine.end() }
            return machine.isNextAwaited
        }
        tellEnd(isAwaited: isAwaited)
    }

    @usableFromInline
    func fail(_ error: any Error) {
        guard !isCollecting else { return end() }
        let (isAwaited, tasks) = machine.withLock { ($0.isNextAwaited, $0.fail(error)) }
        for task in tasks { task.cancel() }
        tellEnd(isAwaited: isAwaited)
    }

    /// Whoever waits for the task goes on when this has returned, and after the last one goes back to its own actor.
    private func tellEnd(isAwaited: Bool) {
        if isAwaited { watch?.workDeparts() } else { watch?.stir() }
    }

    // MARK: Waiting for all of them

    /// All have been started, and whoever has started them waits for all of their tasks.
    @usableFromInline
    func beginWait() {
        if watch != nil { machine.withLock { $0.await() } }
    }

    /// Whoever has waited is back.
    @usableFromInline
    func endWait() {
        if let watch, machine.withLock({ $0.isAwaited }) { watch.workArrived() }
    }

    @usableFromInline
    func cancel() {
        for task in machine.withLock({ $0.cancel() }) { task.cancel() }
    }
}

extension Task where Failure == any Error {
    /// How the task ended. Unlike `result` it stays on the caller's actor.
    @inlinable
    func ended() async -> Result<Success, Failure> {
        do {
            return .success(try await value)
        } catch {
            return .failure(error)
        }
    }
}
