internal import Dispatch
internal import Foundation
internal import IDMCore
internal import Synchronization
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One exchange of a session: performs the actions of its state machine. The session calls it on a serial queue, on
/// which files are written as well.
final class SessionExchange: Sendable {
    typealias Sender = UnsafeContinuation<Head, any Error>
    typealias Reader = UnsafeContinuation<Data?, any Error>
    private typealias State = ExchangeStateMachine<Head, Sender, Reader>

    /// The head of a response.
    struct Head: Sendable {
        let status: Int
        let headers: ServiceHeaders
    }

    /// The state of the session's task.
    private enum Transfer {
        case unmade(@Sendable () -> URLSessionTask)
        case made(URLSessionTask)
        case stopped
    }

    private let request: TransportRequest
    private let payload: RequestPayload
    private let queues: SessionQueues
    private let didBegin: @Sendable (SessionExchange, URLSessionTask) -> Void
    private let state: Locked<State>
    private let transfer: Locked<Transfer>
    private let spillFiles: Locked<BodySpillFiles>
    /// The bytes that the reader hasn't taken. Where more come, the session waits: a reader who is but a moment behind
    /// would be further behind with each piece that goes by way of the disk.
    private let behind: BackpressureGate
    private let sent = Atomic<Int64>(0)
    /// The announced length of the body.
    private let announced = Atomic<Int64>(0)

    /// The number of bytes in memory.
    private static let window = 2 << 20
    /// The maximum wait of a reader that wants more than a piece.
    private static let moment = DispatchTimeInterval.milliseconds(2)

    /// - Parameters:
    ///   - task: Makes the task of the session, once.
    ///   - folder: Where is put aside what the reader doesn't take.
    ///   - patience: How long the session, and with it all other exchanges, waits for the reader at most.
    ///   - didBegin: Called before the transfer begins, and before it can be stopped.
    init(
        _ request: TransportRequest, _ payload: RequestPayload, queues: SessionQueues,
        task: @escaping @Sendable () -> URLSessionTask, folder: URL, patience: DispatchTimeInterval = .milliseconds(20),
        didBegin: @escaping @Sendable (SessionExchange, URLSessionTask) -> Void
    ) {
        self.request = request
        self.payload = payload
        transfer = Locked(.unmade(task))
        self.queues = queues
        self.didBegin = didBegin
        behind = BackpressureGate(limit: Self.window, patience: patience)
        spillFiles = Locked(BodySpillFiles(folder: folder))
        state = Locked(
            State(.init(window: Self.window, piece: 256 << 10, limit: request.limits.body), gathered: 64 << 10))
    }

    /// The number of bytes of the body in memory.
    var bytesInMemory: Int { state.withLock { $0.memoryLength } }

    // MARK: What the caller does

    /// Sends the request, and waits for the head of the response.
    func head() async throws -> Head {
        try await LibraryTask.reactingToCancel {
            try await withUnsafeThrowingContinuation { sender in perform(state.withLock { $0.begin(sender) }) }
        } onCancel: {
            abandon()
        }
    }

    /// The next piece of the body, of so many bytes at least if they come at once.
    func next(least: Int = 1, isolation: isolated (any Actor)?) async throws -> Data? {
        try await LibraryTask.reactingToCancel {
            try await piece(least)
        } onCancel: {
            abandon()
        }
    }

    private func piece(_ least: Int, isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
        try await withUnsafeThrowingContinuation { reader in
            perform(state.withLock { $0.ask(reader, least: least) })
        }
    }

    /// Abandons the exchange.
    func abandon() {
        behind.end()
        perform(state.withLock { $0.abandon() })
    }

    // MARK: Delegate calls, on the delegate queue

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        // A server may say several things before its response.
        guard response.statusCode >= 200 || response.statusCode == 101 else { return }
        if let headers = ServiceHeaders(response, limit: request.limits.header) {
            if request.method.getsBody(with: response.statusCode) {
                announced.store(headers.announcedLength ?? 0, ordering: .relaxed)
            }
            let head = Head(status: response.statusCode, headers: headers)
            // The body of a redirect, or one that is too long, isn't needed.
            let isWanted =
                !(300..<400).contains(head.status) && announced.load(ordering: .relaxed) <= request.limits.body
            request.didReceive?(.head(status: head.status, headers: headers))
            perform(state.withLock { $0.receive(head, gathers: isWanted && request.didReceive != nil) })
        } else {
            let fault = TransportFault(.headerTooLarge(limit: request.limits.header))
            perform(state.withLock { $0.refuse(fault, stops: true) })
        }
    }

    func receive(_ piece: Data) {
        // Not while something is put aside: it is fetched on the queue that would wait.
        behind.enter(piece.count, mayWait: state.withLock { !$0.hasPutAside })
        let (action, gathered) = state.withLock { state in
            (state.receive(piece), state.isGathering ? state.received : nil)
        }
        if let gathered { request.didReceive?(.body(gathered)) }
        perform(action)
    }

    func didSend(_ count: Int64) {
        // Reports of a session come in order. Those of an upload that begins anew don't.
        if count > sent.load(ordering: .relaxed) {
            sent.store(count, ordering: .relaxed)
            request.didSend(count)
        }
        // On Apple's platforms URLSession would wait for ever for the rest of a file that has been cut.
        if let fault = payload.change {
            let action = state.withLock { state -> State.Action in
                state.received == nil ? state.refuse(fault, stops: true) : .none
            }
            perform(action)
        }
    }

    /// The connection broke before there was a response, and the body would have to be sent again.
    func didLose() {
        perform(state.withLock { $0.refuse(TransportFault(.lost), stops: true) })
    }

    /// Called before a challenge is rejected. If the response has arrived, it is complete.
    func didReject() {
        perform(state.withLock { $0.received == nil ? .none : $0.complete(nil) })
    }

    /// Answers a question of the session, unless the task has been cancelled: on Linux an answer to a task that doesn't
    /// wait for it any more ends the process. Under the lock, so that it is before the cancellation or not at all.
    func answer(_ reply: () -> Void) {
        transfer.withLock { transfer in
            if case .made = transfer { reply() }
        }
    }

    func complete(_ response: URLResponse?, _ error: (any Error)?) {
        payload.remove()
        let received = state.withLock { $0.received }
        var error = error.map { fault($0, hasHead: received != nil) }
        if let received, received < announced.load(ordering: .relaxed) { error = error ?? TransportFault(.truncated) }
        // The session reports some responses only at their end, without their body.
        if received == nil, error == nil, let response { receive(response) }
        perform(state.withLock { $0.complete(error) })
    }

    private func fault(_ error: any Error, hasHead: Bool) -> any Error {
        if let fault = payload.fault, !hasHead { return fault }
        guard let error = error as? URLError else { return error }
        switch error.code {
        case .cancelled: return CancellationError()
        case .timedOut: return error
        default: return TransportFault(error, hasHead: hasHead, headerLimit: request.limits.header)
        }
    }

    // MARK: Actions

    private func perform(_ action: State.Action) {
        switch action {
        case .none: break
        case .start: queues.start.async { [self] in start() }
        case .answer(let sender, let head, let action):
            perform(action)
            sender.resume(returning: head)
        case .refuse(let sender, let error, let stops):
            if stops { stop() }
            sender.resume(throwing: error)
        case .body(let action): perform(action)
        }
    }

    private func perform(_ action: BodyBufferStateMachine<Reader>.Action) {
        switch action {
        case .none: break
        case .deliver(let reader, let pieces, let stops):
            if stops { stop() }
            behind.leave(pieces.reduce(0) { $0 + $1.count })
            reader.resume(returning: pieces.joined())
        case .finish(let reader, let error, let stops):
            if stops { stop() }
            if let error { reader.resume(throwing: error) } else { reader.resume(returning: nil) }
        case .stop: stop()
        case .flushLater:
            queues.flush.asyncAfter(deadline: .now() + Self.moment) { [self] in
                perform(state.withLock { $0.flush() })
            }
        case .spill(let piece):
            // On the queue already: the next piece comes after this one is on disk.
            let result = Result<Int, any Error> {
                try TemporaryFile.puttingAside { try spillFiles.withLock { try $0.append(piece) } }
                return piece.count
            }
            perform(state.withLock { $0.spilled(result) })
        case .fetch(let count):
            queues.files.async { [self] in
                let result = Result<Data, any Error> {
                    try TemporaryFile.puttingAside { try spillFiles.withLock { try $0.fetch(count) } }
                }
                perform(state.withLock { $0.fetched(result) })
            }
        }
    }

    private func start() {
        let task = transfer.withLock { transfer -> URLSessionTask? in
            // An exchange that has ended makes no task: nothing may be sent any more, and the session would retain a
            // task that is never resumed.
            guard case .unmade(let make) = transfer, state.withLock({ $0.isAwaiting }) else {
                transfer = .stopped
                return nil
            }
            let task = make()
            // Before it can be cancelled: the delegate finds the exchange by its task.
            didBegin(self, task)
            transfer = .made(task)
            return task
        }
        guard let task else { return }
        // The idle time-out begins now.
        request.didSend(0)
        task.resume()
    }

    private func stop() {
        queues.cancel.async { [self] in
            let task = transfer.withLock { transfer -> URLSessionTask? in
                defer { transfer = .stopped }
                return if case .made(let task) = transfer { task } else { nil }
            }
            task?.cancel()
        }
    }
}

extension [Data] {
    /// All of them as one.
    fileprivate func joined() -> Data {
        guard count != 1 else { return self[0] }
        var all = Data(capacity: reduce(0) { $0 + $1.count })
        for piece in self { all.append(piece) }
        return all
    }
}
