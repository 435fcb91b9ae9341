#if os(Linux)
internal import Foundation

/// The states of one exchange, from its request to the end of its body. A pure value: each event returns the action to
/// perform.
///
/// Events of the network come in the order in which libcurl reports them: one head, bytes, one end. Those of the caller
/// come at any time.
struct CurlExchangeStateMachine<Head: Sendable, Sender, Reader> {
    enum Event {
        /// The caller sends the request.
        case begin(Sender)
        /// The final head of the response.
        ///
        /// - `gathered`: The number of bytes that the answer waits for, unless the body ends before. 0 for none.
        /// - `skipLimit`: The number of bytes that are read and dropped to keep the connection, once the body is
        ///   released.
        case head(Head, gathered: Int, skipLimit: Int)
        /// libcurl has reported all bytes of this turn.
        case turnEnded
        /// libcurl has finished the transfer, with an error if it failed.
        case ended((any Error)?)
        /// This side ends the transfer.
        case fail(any Error)
        /// The reader waits for bytes.
        case ask(Reader)
        /// The task of the caller or of the reader is cancelled.
        case cancel
        /// The body is released.
        case release
    }

    /// The fate of received bytes.
    enum Receipt: Sendable {
        case taken
        /// The window is full. libcurl keeps the bytes until it is resumed.
        case paused
        /// libcurl ends the transfer.
        case refused
    }

    enum Action {
        case none
        /// Hand the request to libcurl.
        case submit
        /// Return the head to the caller.
        case answer(Sender, Head)
        /// Throw the error to the caller, and end the transfer if it has begun.
        case refuse(Sender, any Error, stops: Bool)
        /// Return bytes to the reader, and resume libcurl if it is paused for them.
        case deliver(Reader, Data, resumes: Bool)
        /// Return the end of the body, or throw its error, and end the transfer if it hasn't ended.
        case finish(Reader, (any Error)?, stops: Bool)
        /// End the transfer.
        case stop
        /// Let the transfer run to its end for a moment, resumed if it is paused.
        case skip
    }

    private enum End {
        case complete
        case failed(any Error)
    }

    private struct Body {
        var chunks = ByteChunks()
        var received = 0
        var skipLimit: Int
        var isPaused = false
        var end: End?
    }

    private enum Phase {
        case idle
        case awaiting(Sender)
        /// The head has arrived, and isn't returned to the caller yet.
        case held(Sender, Head, gathered: Int, Body)
        case open(Reader?, Body)
        /// The body is released. `rest` more bytes may arrive before the transfer is aborted.
        case skipping(rest: Int)
        case over(any Error)
    }

    private let window: Int
    private var phase = Phase.idle

    /// - Parameter window: The number of unread bytes at which libcurl is paused.
    init(window: Int) {
        self.window = window
    }

    /// The number of unread bytes of the body.
    var unreadCount: Int {
        switch phase {
        case .held(_, _, _, let body), .open(_, let body): body.chunks.count
        case .idle, .awaiting, .skipping, .over: 0
        }
    }

    /// The number of bytes of the body while the answer waits for more of them.
    var gatheredCount: Int? {
        if case .held(_, _, 1..., let body) = phase, body.received > 0 { body.received } else { nil }
    }

    /// True between the request and the head of its response.
    var isAwaiting: Bool { if case .awaiting = phase { true } else { false } }

    /// True once the head of the response has arrived.
    var hasHead: Bool {
        switch phase {
        case .held, .open, .skipping: true
        case .idle, .awaiting, .over: false
        }
    }

    mutating func event(_ event: Event) -> Action {
        switch event {
        case .begin(let sender): begin(sender)
        case .head(let head, let gathered, let skipLimit): receive(head, gathered: gathered, skipLimit: skipLimit)
        case .turnEnded: supply()
        case .ended(let error): end(error.map { .failed($0) } ?? .complete, stops: false)
        case .fail(let error): end(.failed(error), stops: true)
        case .ask(let reader): ask(reader)
        case .cancel: abandon(skips: false)
        case .release: abandon(skips: true)
        }
    }

    /// Receives bytes of the body.
    mutating func receive(_ bytes: RawSpan) -> Receipt {
        // The phase is emptied during the append, or the append would copy the kept bytes.
        switch phase {
        case .held(let sender, let head, let gathered, var body):
            phase = .idle
            defer { phase = .held(sender, head, gathered: gathered, body) }
            return receive(bytes, &body, window: max(window, gathered))
        case .open(let reader, var body):
            phase = .idle
            defer { phase = .open(reader, body) }
            return receive(bytes, &body, window: window)
        case .skipping(let rest):
            phase = .skipping(rest: max(rest - bytes.byteCount, 0))
            return bytes.byteCount <= rest ? .taken : .refused
        case .idle, .awaiting, .over: return .refused
        }
    }

    private func receive(_ bytes: RawSpan, _ body: inout Body, window: Int) -> Receipt {
        guard body.end == nil else { return .refused }
        guard body.chunks.count < window else {
            body.isPaused = true
            return .paused
        }
        body.chunks.append(bytes)
        body.received += bytes.byteCount
        return .taken
    }

    /// Returns bytes, or nil at the end of the body, without a reader that waits. Nil if the reader has to wait, or
    /// gets an error.
    mutating func takeReady() -> (piece: Data?, resumes: Bool)? {
        guard case .open(nil, var body) = phase else { return nil }
        phase = .idle
        defer { phase = .open(nil, body) }
        if let piece = body.chunks.popFirst() { return (piece, resumes(&body)) }
        if case .complete = body.end { return (nil, false) }
        return nil
    }

    private mutating func begin(_ sender: Sender) -> Action {
        switch phase {
        case .idle:
            phase = .awaiting(sender)
            return .submit
        case .over(let error): return .refuse(sender, error, stops: false)
        case .awaiting, .held, .open, .skipping: return .refuse(sender, CancellationError(), stops: false)
        }
    }

    private mutating func receive(_ head: Head, gathered: Int, skipLimit: Int) -> Action {
        guard case .awaiting(let sender) = phase else { return .none }
        phase = .held(sender, head, gathered: gathered, Body(chunks: ByteChunks(gathered), skipLimit: skipLimit))
        return .none
    }

    /// Returns the head to the caller, or bytes to the reader.
    private mutating func supply() -> Action {
        switch phase {
        case .held(let sender, let head, let gathered, let body):
            guard body.end != nil || gathered == 0 || body.received > gathered else { return .none }
            phase = .open(nil, body)
            return .answer(sender, head)
        case .open(let reader?, let body):
            phase = .open(nil, body)
            return ask(reader)
        case .idle, .awaiting, .open(nil, _), .skipping, .over: return .none
        }
    }

    private mutating func end(_ end: End, stops: Bool) -> Action {
        switch phase {
        case .awaiting(let sender):
            let error: any Error = if case .failed(let error) = end { error } else { TransportFault(.lost) }
            phase = .over(error)
            return .refuse(sender, error, stops: stops)
        case .held(let sender, let head, let gathered, var body):
            guard body.end == nil else { return .none }
            body.end = end
            phase = .held(sender, head, gathered: gathered, body)
            return stops ? .stop : .none
        case .open(let reader, var body):
            guard body.end == nil else { return .none }
            body.end = end
            phase = .open(reader, body)
            return stops ? .stop : .none
        case .skipping:
            phase = .over(CancellationError())
            return stops ? .stop : .none
        case .idle:
            if case .failed(let error) = end { phase = .over(error) }
            return .none
        case .over: return .none
        }
    }

    private mutating func ask(_ reader: Reader) -> Action {
        switch phase {
        case .open(nil, var body):
            phase = .idle
            if let piece = body.chunks.popFirst() {
                let resumes = resumes(&body)
                phase = .open(nil, body)
                return .deliver(reader, piece, resumes: resumes)
            }
            phase = .open(body.end == nil ? reader : nil, body)
            switch body.end {
            case .complete: return .finish(reader, nil, stops: false)
            case .failed(let error): return .finish(reader, error, stops: false)
            case nil: return .none
            }
        case .over(let error): return .finish(reader, error, stops: false)
        case .idle, .awaiting, .held, .open, .skipping: return .finish(reader, CancellationError(), stops: false)
        }
    }

    /// Returns whether libcurl is resumed, since there is room again.
    private func resumes(_ body: inout Body) -> Bool {
        guard body.isPaused, body.chunks.count <= window / 2 else { return false }
        body.isPaused = false
        return body.end == nil
    }

    private mutating func abandon(skips: Bool) -> Action {
        defer {
            switch phase {
            case .skipping, .over: break
            case .idle, .awaiting, .held, .open: phase = .over(CancellationError())
            }
        }
        switch phase {
        case .awaiting(let sender): return .refuse(sender, CancellationError(), stops: true)
        case .held(let sender, _, _, let body): return .refuse(sender, CancellationError(), stops: body.end == nil)
        case .open(let reader?, let body): return .finish(reader, CancellationError(), stops: body.end == nil)
        case .open(nil, let body):
            guard body.end == nil else { return .none }
            guard skips, body.skipLimit > 0 else { return .stop }
            phase = .skipping(rest: body.skipLimit)
            return .skip
        case .skipping where !skips:
            phase = .over(CancellationError())
            return .stop
        case .idle, .skipping, .over: return .none
        }
    }
}

extension CurlExchangeStateMachine.Event: Sendable where Sender: Sendable, Reader: Sendable {}
extension CurlExchangeStateMachine.Action: Sendable where Sender: Sendable, Reader: Sendable {}

/// Bytes in the order in which they were appended, kept in pieces of moderate size.
struct ByteChunks {
    private var chunks: [Data] = []
    private var pieceLength = 128 << 10
    private(set) var count = 0

    /// - Parameter expected: The announced number of bytes.
    init(_ expected: Int = 0) {
        // A server may announce more than there is memory for.
        if (pieceLength...(256 << 20)).contains(expected) { pieceLength = expected }
    }

    mutating func append(_ bytes: RawSpan) {
        count += bytes.byteCount
        if chunks.last.map({ $0.count + bytes.byteCount <= pieceLength }) != true {
            // More follows after the longest report that libcurl makes.
            let isLong = bytes.byteCount >= 16 << 10
            chunks.append(Data(capacity: isLong ? pieceLength : bytes.byteCount))
        }
        bytes.withUnsafeBytes { chunks[chunks.count - 1].append(contentsOf: $0) }
    }

    mutating func popFirst() -> Data? {
        guard !chunks.isEmpty else { return nil }
        let first = chunks.removeFirst()
        count -= first.count
        return first
    }
}
#endif
