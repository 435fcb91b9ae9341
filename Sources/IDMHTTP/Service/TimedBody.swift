internal import Foundation
internal import IDMCore
internal import Synchronization

/// A body that is received at its reader's pace, with an idle time-out while the reader waits, and a total time-out.
///
/// A task of its own reads the transport's bytes, so that a transport that ignores cancellation can be abandoned. It
/// reads a piece only when the reader asks for one.
final class TimedBody: Sendable {
    private let core: Core

    /// - Parameters:
    ///   - idle: The idle time-out, and its error.
    ///   - total: The total time-out from now on, and its error.
    ///   - control: The control whose pauses suspend the idle time-out.
    ///   - error: Converts an error of the transport.
    init(
        _ bytes: HTTPBytes, idle: (Duration, any Error), total: (Duration, any Error)? = nil,
        control: PauseControl? = nil, clock: any Clock<Duration>, error: @escaping @Sendable (any Error) -> any Error
    ) {
        core = Core(Timeout(clock), idle: idle, control, error: error)
        core.start(bytes)
        if let (total, error) = total { core.end(after: total, with: error) }
    }

    deinit { core.end(CancellationError()) }

    var bytes: HTTPBytes { HTTPBytes { TimedCursor(body: self) } }

    fileprivate func gather(_ least: Int) { core.gather(least) }

    fileprivate func next() async throws -> Data? {
        try await LibraryTask.reactingToCancel {
            try await core.next()
        } onCancel: {
            core.end(CancellationError())
        }
    }
}

private struct TimedCursor: ByteCursor {
    let body: TimedBody

    mutating func gather(_ least: Int) { body.gather(least) }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        try await body.next()
    }
}

/// The state that the task and the timers retain. Readers alone retain the body itself: its release ends the transfer.
private final class Core: Sendable {
    private enum Role: Int { case worker, idle, total }
    private typealias Reader = TrackedContinuation<Data?, any Error>
    private typealias Worker = UnsafeContinuation<Bool, Never>
    private typealias State = TimedBodyStateMachine<Reader, Worker>

    private let timeout: Timeout
    private let idle: (duration: Duration, error: any Error)
    private let control: PauseControl?
    private let error: @Sendable (any Error) -> any Error
    private let state = Locked(State())
    /// The idle limit while a reader waits.
    private let limit = Locked<Timeout.Limit?>(nil)
    /// Cancels the work of each role.
    private let ends = Locked<[Role.RawValue: @Sendable () -> Void]>([:])
    /// The number of bytes that are requested at once.
    private let least = Atomic(1)

    init(
        _ timeout: Timeout, idle: (Duration, any Error), _ control: PauseControl?,
        error: @escaping @Sendable (any Error) -> any Error
    ) {
        self.timeout = timeout
        self.idle = idle
        self.control = control
        self.error = error
    }

    func gather(_ count: Int) { least.store(count, ordering: .relaxed) }

    func next(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
        noteActivity()
        return try await LibraryTask.waitThrowing { reader in
            let answer = state.withLock { $0.ask(reader) }
            perform(answer.action)
            if answer.listens { listen() }
        }
    }

    func start(_ bytes: HTTPBytes) {
        let worker = Task(executorPreference: LibraryTask.executor) { [self] in
            var pieces = bytes.makeAsyncIterator()
            while await isAsked() {
                pieces.gather(least.load(ordering: .relaxed))
                do {
                    guard let piece = try await pieces.next() else { return end(nil) }
                    noteActivity()
                    perform(state.withLock { $0.take(piece) })
                } catch {
                    return end(self.error(error))
                }
            }
        }
        keep(.worker) { worker.cancel() }
    }

    /// Suspends the task until the reader asks for a piece. Returns false at the end.
    private func isAsked() async -> Bool {
        await withUnsafeContinuation { worker in perform(state.withLock { $0.wait(worker) }) }
    }

    private func noteActivity() { limit.withLock { $0 }?.noteActivity() }

    func end(after duration: Duration, with error: any Error) {
        let limit = timeout.limit(duration) { [self] in
            end(error)
            return false
        }
        keep(.total) { limit.cancel() }
    }

    func end(_ error: (any Error)?) {
        let action = state.withLock { $0.end(error) }
        let ends = ends.withLock { ends in
            defer { ends = [:] }
            return ends.inOrder
        }
        // Decided before its work is cancelled, and delivered after that.
        for end in ends { end() }
        perform(action)
    }

    /// Starts the idle limit when a reader waits.
    private func listen() {
        let turn = Atomic(state.withLock { $0.turn })
        let limit = timeout.limit(idle.duration, control: control) { [self] in
            switch state.withLock({ ($0.silence(since: turn.load(ordering: .relaxed)), $0.turn) }) {
            case (.rest, _): return false
            case (.listen, let now):
                turn.store(now, ordering: .relaxed)
                return true
            case (.over, _):
                end(idle.error)
                return false
            }
        }
        self.limit.withLock { $0 = limit }
        keep(.idle) { limit.cancel() }
    }

    private func keep(_ role: Role, _ end: @escaping @Sendable () -> Void) {
        ends.withLock { $0[role.rawValue] = end }
        // It may have ended since, without cancelling this.
        guard state.withLock({ $0.hasEnded }) else { return }
        _ = ends.withLock { $0.removeValue(forKey: role.rawValue) }
        end()
    }

    private func perform(_ action: State.Action) {
        switch action {
        case .none: break
        case .tell(let worker, let goOn): worker.resume(returning: goOn)
        case .answer(let readers, let result): for reader in readers { reader.resume(with: result) }
        }
    }
}
