#if os(Linux)
internal import CIDMCurl
internal import Foundation
internal import IDMCore
internal import Synchronization

/// The storage of one exchange over libcurl: performs what its state machines decide, outside of its lock.
///
/// The caller and the reader use it from their tasks, libcurl's callbacks from the thread of the loop. Callbacks find
/// it by its number while the thread works for it.
final class CurlExchange: Sendable {
    typealias Head = CurlHeadParser.Head
    typealias Sender = UnsafeContinuation<Head, any Error>
    typealias Reader = UnsafeContinuation<Data?, any Error>
    typealias Machine = CurlExchangeStateMachine<Head, Sender, Reader>
    typealias Upload = CurlUploadStateMachine<UnsafeContinuation<Bool, Never>>

    /// The reason to end a transfer before its request leaves.
    enum Refusal {
        /// The connection had unrequested bytes.
        case staleConnection
        /// The request has left before, and may not arrive twice.
        case repetition
    }

    private struct State {
        var machine: Machine
        var head: CurlHeadParser
        var upload: Upload?
        var ends: CurlConnections.Ends?
        var refusal: Refusal?
        /// libcurl's handle of the transfer, which only the thread uses.
        var handle: UInt = 0
        /// The number of times that the request has left.
        var departures = 0
        /// The session of TLS. 0 for none.
        var session: UInt = 0
        /// True if only the end of the connection ends the body.
        var endsWithConnection = false
        /// The fault for which this side ended the transfer.
        var fault: TransportFault?
        var isTouched = false
        var sent: Int64 = 0
    }

    private static let numbers = Atomic<UInt>(1)
    /// The exchanges that a thread works for.
    private static let exchanges = Locked<[UInt: CurlExchange]>([:])

    let number = CurlExchange.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let request: TransportRequest
    /// The address, and the part up to the end of the host.
    let address: String
    let host: Substring
    private let bytes: HTTPBytes?
    private let loop: CurlLoop
    private let state: Locked<State>
    private let pump = Locked<Task<Void, Never>?>(nil)

    /// The most bytes of a body that are kept, in each direction.
    private static let window = 2 << 20
    private static let uploadWindow = 256 << 10
    /// The longest body of an unknown length that is handed over together with its head.
    private static let gathered = 64 << 10
    /// The longest body of a redirect that is read to its end for the sake of the connection.
    private static let skipLimit = 64 << 10

    /// - Parameter bytes: The request's body, unless it is a short one in memory.
    init(_ request: TransportRequest, _ bytes: HTTPBytes?, _ loop: CurlLoop) {
        self.request = request
        self.bytes = bytes
        self.loop = loop
        address = request.url.absoluteString
        let slashes = address.utf8.indices.lazy.filter { [address] in address.utf8[$0] == UInt8(ascii: "/") }
        host = address[..<(slashes.dropFirst(2).first ?? address.endIndex)]
        let machine = Machine(window: Self.window)
        let upload = request.body.map { body in
            Upload(bytes == nil ? body.data ?? Data() : nil, window: Self.uploadWindow)
        }
        state = Locked(State(machine: machine, head: CurlHeadParser(limit: request.limits.header), upload: upload))
    }

    /// The number of exchanges that the threads of all loops work for.
    static var runningCount: Int { exchanges.withLock { $0.count } }

    static func withNumber(_ number: UnsafeMutableRawPointer?) -> CurlExchange? {
        exchanges.withLock { $0[UInt(bitPattern: number)] }
    }

    // MARK: The caller

    /// Sends the request, and waits for the head of the response.
    func head() async throws -> Head {
        try await LibraryTask.reactingToCancel {
            try await withUnsafeThrowingContinuation { sender in perform(.begin(sender)) }
        } onCancel: {
            perform(.cancel)
        }
    }

    /// The next bytes of the body as they were sent, or nil at its end.
    func next(isolation: isolated (any Actor)?) async throws -> Data? {
        if Task.isCancelled { perform(.cancel) }
        if let ready = state.withLock({ $0.machine.takeReady() }) {
            if ready.resumes { loop.submit(.resume(number)) }
            return ready.piece
        }
        return try await LibraryTask.reactingToCancel {
            try await wait()
        } onCancel: {
            perform(.cancel)
        }
    }

    private func wait(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
        try await withUnsafeThrowingContinuation { reader in perform(.ask(reader)) }
    }

    /// Ends the transfer, if it hasn't ended, for an error that the reader has found.
    func fail(_ error: any Error) { perform(.fail(error)) }

    /// Ends the transfer, as its body is released.
    func release() { perform(.release) }

    // MARK: Callbacks of libcurl, on the thread

    /// Returns false if the transfer is to end.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        do {
            guard let head = try state.withLock({ state throws(TransportFault) in try state.head.read(line) }) else {
                return true
            }
            receive(head)
            return true
        } catch {
            state.withLock { $0.fault = error }
            return false
        }
    }

    private func receive(_ head: Head) {
        let isRedirect = (300..<400).contains(head.status)
        let length = head.length ?? 0
        request.didReceive?(.head(status: head.status, headers: head.headers))
        // A caller that asks for arrivals reads the body as a whole, unless it is too long or that of a redirect.
        let isGathered =
            request.didReceive != nil && !isRedirect && !head.isPacked && length <= request.limits.body
        let gathered = isGathered ? max(Int(length), Self.gathered) : 0
        let skipLimit = isRedirect && length <= Self.skipLimit ? Self.skipLimit : 0
        let hasBody = request.method.getsBody(with: head.status)
        touch { state in
            state.endsWithConnection = !head.isFramed && hasBody
            _ = state.machine.event(.head(head, gathered: gathered, skipLimit: skipLimit))
        }
    }

    func receive(_ bytes: RawSpan) -> Machine.Receipt { touch { state in state.machine.receive(bytes) } }

    func supplyBody(upTo room: Int) -> Upload.Supply {
        let (supply, action) = state.withLock { $0.upload?.read(upTo: room) ?? (.end, Upload.Action()) }
        perform(action)
        return supply
    }

    /// Returns whether the request may leave over a connection.
    func leaves(over ends: CurlConnections.Ends) -> Bool {
        let (departures, handle) = state.withLock { ($0.departures, OpaquePointer(bitPattern: $0.handle)) }
        let session = cidm_session(handle)
        let refusal: Refusal? =
            if departures > 0, !request.isReplaySafe {
                .repetition
            } else if !loop.connections.withLock({ $0.use(ends, hasBytes: cidm_has_decrypted_bytes(session)) }) {
                .staleConnection
            } else {
                nil
            }
        let last = state.withLock { state -> CurlConnections.Ends? in
            state.refusal = refusal
            guard refusal == nil else { return nil }
            state.departures += 1
            state.session = session
            defer { state.ends = ends }
            return state.ends
        }
        if let last { loop.connections.withLock { $0.leave(last, isMultiplexed: false) } }
        return refusal == nil
    }

    // MARK: The thread

    var isAwaiting: Bool { state.withLock { $0.machine.isAwaiting } }

    func startWork(_ handle: OpaquePointer) {
        state.withLock { $0.handle = UInt(bitPattern: handle) }
        Self.exchanges.withLock { $0[number] = self }
    }

    /// Reports that the exchange waits for a connection.
    func didQueue() { request.didQueue() }

    /// Reports that the transfer begins: the idle time-out counts from here.
    func didBegin() {
        request.didSend(0)
        if let bytes { startPump(bytes, length: request.body?.length) }
    }

    /// Returns whether the transfer ended before its request left, and may begin again over a fresh connection.
    func takeStaleness() -> Bool {
        state.withLock { state in
            guard state.refusal == .staleConnection else { return false }
            state.refusal = nil
            return true
        }
    }

    /// Reports the number of sent bytes of the request's body.
    func didSend(_ count: Int64) {
        let sent = state.withLock { state -> Int64? in
            let count = min(count, state.upload?.given ?? 0)
            guard count > state.sent else { return nil }
            state.sent = count
            return count
        }
        if let sent { request.didSend(sent) }
    }

    /// Delivers the bytes of this turn, all of which libcurl has reported.
    func turnEnded() {
        let (action, gathered) = state.withLock { state in
            state.isTouched = false
            return (state.machine.event(.turnEnded), state.machine.gatheredCount)
        }
        if let gathered { request.didReceive?(.body(gathered)) }
        perform(action)
    }

    /// Ends the work of the thread for the exchange.
    ///
    /// - Parameter isMultiplexed: True if the connection carries several exchanges at once.
    func endWork(_ result: CurlResult?, isMultiplexed: Bool) {
        Self.exchanges.withLock { $0[number] = nil }
        let (ends, error, upload) = state.withLock { state in
            defer { state.ends = nil }
            var fault = state.refusal == .repetition ? TransportFault(.lost) : state.fault
            if result?.code == 0, state.endsWithConnection, !isMultiplexed, state.session != 0,
                !cidm_has_said_close(state.session)
            {
                fault = TransportFault(.truncated)
            }
            let hasHead = state.machine.hasHead
            let error = result.flatMap { fault ?? $0.fault(hasHead: hasHead, headerLimit: request.limits.header) }
            return (state.ends, error, state.upload?.end() ?? Upload.Action())
        }
        if let ends { loop.connections.withLock { $0.leave(ends, isMultiplexed: isMultiplexed) } }
        perform(upload)
        pump.withLock { $0.take() }?.cancel()
        guard result != nil else { return }
        perform(.ended(error))
        turnEnded()
    }

    private func touch<R>(_ body: (inout sending State) -> sending R) -> R {
        let (result, isFirst) = state.withLock { state in
            defer { state.isTouched = true }
            return (body(&state), !state.isTouched)
        }
        if isFirst { loop.touch(self) }
        return result
    }

    // MARK: The request's body

    /// Reads the body in a separate task, no faster than libcurl sends it.
    private func startPump(_ bytes: HTTPBytes, length announced: Int?) {
        let task = Task(executorPreference: LibraryTask.executor) { [self] in
            do {
                var last: Data?
                var length = 0
                for try await piece in bytes {
                    length += piece.count
                    // The last piece waits for the end of the body, with which the server takes it for complete.
                    guard length != announced else {
                        last = piece
                        continue
                    }
                    guard await append(piece) else { return }
                }
                if let last { guard await append(last) else { return } }
                perform(state.withLock { $0.upload?.complete() ?? Upload.Action() })
            } catch {
                if !Task.isCancelled { perform(.fail(error)) }
            }
        }
        pump.withLock { $0 = task }
    }

    private func append(_ piece: Data) async -> Bool {
        await withUnsafeContinuation { producer in
            perform(state.withLock { $0.upload?.append(piece, producer) ?? Upload.Action(producer: (producer, false)) })
        }
    }

    // MARK: Actions

    private func perform(_ event: Machine.Event) { perform(state.withLock { $0.machine.event(event) }) }

    private func perform(_ action: Upload.Action) {
        if action.resumes { loop.submit(.resume(number)) }
        if let (producer, goesOn) = action.producer { producer.resume(returning: goesOn) }
    }

    private func perform(_ action: Machine.Action) {
        switch action {
        case .none: break
        case .submit: loop.submit(.start(self))
        case .answer(let sender, let head): sender.resume(returning: head)
        case .refuse(let sender, let error, let stops):
            if stops { loop.submit(.stop(number)) }
            sender.resume(throwing: error)
        case .deliver(let reader, let piece, let resumes):
            if resumes { loop.submit(.resume(number)) }
            reader.resume(returning: piece)
        case .finish(let reader, let error, let stops):
            if stops { loop.submit(.stop(number)) }
            if let error { reader.resume(throwing: error) } else { reader.resume(returning: nil) }
        case .stop: loop.submit(.stop(number))
        case .skip: loop.submit(.skip(number))
        }
    }
}
#endif
