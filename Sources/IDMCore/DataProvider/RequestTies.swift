/// What ties requests together that run side by side, each in a task of its own: the first failure, and a cancel, end
/// them all. Made by groups; not for use outside of the package.
public final class _RequestTies: Sendable {
    /// The executor that the tasks of this package prefer, if any.
    @usableFromInline let executor = LibraryTask.preferred

    /// Whether one may fail without failing the others.
    @usableFromInline let isCollecting: Bool

    private let fate = Locked(RequestFate())

    @usableFromInline
    init(isCollecting: Bool = false) {
        self.isCollecting = isCollecting
        // Then none is asked at all.
        if Task.isCancelled { cancel() }
    }

    /// The first failure, if there is one.
    @usableFromInline var failure: (any Error)? { fate.withLock { $0.failure } }

    /// Whether all have answered.
    @usableFromInline var isFulfilled: Bool { fate.withLock { $0.isFulfilled } }

    /// One is about to start. False if its provider isn't to be asked, as the others have failed or were cancelled.
    @usableFromInline
    func start() -> Bool {
        fate.withLock { $0.start() }
    }

    /// One has started, in this task.
    @usableFromInline
    func tie(_ task: any CancellableTask) {
        if fate.withLock({ $0.tie(task) }) { task.cancel() }
    }

    @usableFromInline
    func end() {
        // Whoever waits for the task goes on when this has returned.
        if executor != nil { LibraryTask.stir() }
        fate.withLock { $0.end() }
    }

    @usableFromInline
    func fail(_ error: any Error) {
        guard !isCollecting else { return end() }
        if executor != nil { LibraryTask.stir() }
        for task in fate.withLock({ $0.fail(error) }) { task.cancel() }
    }

    @usableFromInline
    func cancel() {
        for task in fate.withLock({ $0.cancel() }) { task.cancel() }
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
