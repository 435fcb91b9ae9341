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
    ///   - silence: The idle time-out.
    ///   - control: The control whose pauses suspend the idle time-out.
    ///   - rest: The total time-out from now on, and its error.
    ///   - error: Converts an error of the transport.
    init(
        _ bytes: HTTPBytes, silence: Duration?, unless control: PauseControl? = nil, rest: (Duration, any Error)? = nil,
        clock: any Clock<Duration>, error: @escaping @Sendable (any Error) -> any Error
    ) {
        core = Core(meter: silence.map { clock.meter(of: $0) }, control, error: error)
        core.start(bytes)
        if let (rest, error) = rest { core.end(after: clock.meter(of: rest), with: error) }
    }

    deinit { core.end(CancellationError()) }

    /// The bytes. They keep the transfer alive.
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
    private enum Role: Int { case worker, listener, limit }
    private typealias Reader = TrackedContinuation<Data?, any Error>
    private typealias Worker = UnsafeContinuation<Bool, Never>
    private typealias State = TimedBodyStateMachine<Reader, Worker>

    private let meter: (any IdleTimer)?
    private let control: PauseControl?
    private let error: @Sendable (any Error) -> any Error
    private let state = Locked(State())
    /// Cancels the work of each role.
    private let ends = Locked<[Role.RawValue: @Sendable () -> Void]>([:])
    /// The number of bytes that are requested at once.
    private let least = Atomic(1)

    init(
        meter: (any IdleTimer)?, _ control: PauseControl?, error: @escaping @Sendable (any Error) -> any Error
    ) {
        self.meter = meter
        self.control = control
        self.error = error
    }

    func gather(_ count: Int) { least.store(count, ordering: .relaxed) }

    func next(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
        meter?.hear()
        return try await LibraryTask.waitThrowing { reader in
            let answer = state.withLock { $0.ask(reader) }
            perform(answer.action)
            if answer.listens { listen() }
        }
    }

    /// Starts the task that reads a piece each time the reader asks for one.
    func start(_ bytes: HTTPBytes) {
        let worker = Task(executorPreference: LibraryTask.executor) { [self] in
            var pieces = bytes.makeAsyncIterator()
            while await isAsked() {
                pieces.gather(least.load(ordering: .relaxed))
                do {
                    guard let piece = try await pieces.next() else { return end(nil) }
                    meter?.hear()
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

    /// Ends it when a time is over.
    func end(after meter: any IdleTimer, with error: any Error) {
        let alarm = meter.onSilence(unless: nil) { [self] in end(error) }
        keep(.limit) { alarm.giveUp() }
    }

    func end(_ error: (any Error)?) {
        let action = state.withLock { $0.end(error) }
        let ends = ends.withLock { ends in
            defer { ends = [:] }
            return ends.inOrder
        }
        // Decided before what works for it hears of it, and told after that.
        for end in ends { end() }
        perform(action)
    }

    /// Starts the idle timer while a reader waits.
    private func listen() {
        guard let meter else { return }
        let turn = state.withLock { $0.turn }
        let alarm = meter.onSilence(unless: control) { [self] in
            switch state.withLock({ $0.silence(since: turn) }) {
            case .rest: break
            case .listen: listen()
            case .over: end(error(Timeout.Expired()))
            }
        }
        keep(.listener) { alarm.giveUp() }
    }

    private func keep(_ role: Role, _ end: @escaping @Sendable () -> Void) {
        ends.withLock { $0[role.rawValue] = end }
        // It may have ended in the meantime, and nobody lets go of this.
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
