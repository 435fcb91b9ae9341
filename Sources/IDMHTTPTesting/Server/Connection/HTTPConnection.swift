import Foundation
import IDMHTTP

/// The state machine of one connection: its requests and their answers, without sockets.
///
/// ``next()`` returns each action in turn, until an action has to wait.
struct HTTPConnection: Sendable {
    typealias Answer = LoopbackServer.Answer
    typealias Request = LoopbackServer.Request

    enum Action: Sendable {
        /// Read, and hand over what came: no more than so much.
        case read(Int)
        /// Write all bytes, then continue.
        case write(Data)
        /// Wait, and then call ``goOn()``.
        case wait(Pause)
        /// Find out who answers, and call ``route(to:parameters:)``.
        case route(RequestHead)
        /// The request is as complete as it gets.
        case record(Request)
        /// Have the answer computed, and then call ``computed(_:)``.
        case compute(Request)
        /// The received bytes are no request.
        case complain(String)
        /// Close in good order: received bytes are discarded until the client closes as well.
        case close
        case reset
    }

    private struct Draft: Sendable {
        let head: RequestHead
        var request: Request
    }

    private enum Phase: Sendable {
        case listening
        case routing(Draft)
        /// Word is due that the body may come.
        case inviting(Draft, Answer?)
        case reading(Draft, Answer?, isPaced: Bool)
        /// The request is complete: it is recorded before its answer.
        case recording(Draft, Answer?)
        case computing(Draft)
        case answering(AnswerWriter, hasMore: Bool)
        /// The rest of a body whose request has been answered.
        case skipping
        /// The answer to bytes that aren't HTTP.
        case parting(Data)
        case over(Action)
    }

    static let blockLength = 1 << 16

    private var phase = Phase.listening
    private var parser = RequestParser()
    private var input: ArraySlice<UInt8> = []
    private let connection: Int
    private let bodyLimit: Int

    init(connection: Int, bodyLimit: Int) {
        self.connection = connection
        self.bodyLimit = bodyLimit
    }

    /// True if bytes may arrive before they are read.
    var hasRoom: Bool {
        switch phase {
        // What isn't read yet is to stay where the client sees that it is.
        case .reading, .inviting: false
        case .answering(_, let hasMore): input.isEmpty && !hasMore
        default: input.isEmpty
        }
    }

    mutating func received(_ bytes: ArraySlice<UInt8>) {
        input = input.isEmpty ? bytes : input + bytes
    }

    /// Ends the connection. Returns the unfinished request, if there is one.
    mutating func ended() -> Request? {
        defer { phase = .over(.close) }
        switch phase {
        case .routing(let draft), .inviting(let draft, _), .reading(let draft, _, _): return draft.request
        default: return nil
        }
    }

    mutating func next() -> Action {
        do throws(RequestParser.Fault) {
            while true {
                if let action = try step() { return action }
            }
        } catch {
            phase = .parting(Data("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
            return .complain(error.reason)
        }
    }

    /// Enters the next phase. Returns nil if that needs no action.
    private mutating func step() throws(RequestParser.Fault) -> Action? {
        switch phase {
        case .listening:
            guard case .head(let head)? = try parser.next(&input) else { return .read(Self.blockLength) }
            phase = .routing(Draft(head: head, request: Request(head, connection: connection)))
            return .route(head)
        case .routing(let draft):
            return .route(draft.head)
        case .inviting(let draft, let answer):
            phase = .reading(draft, answer, isPaced: false)
            return .write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        case .reading(var draft, let answer, let isPaced):
            return try read(&draft, answer, isPaced: isPaced)
        case .recording(let draft, let answer):
            if let answer {
                // Who wasn't asked for the body may or may not send it: nothing on the connection is certain any more.
                let answer = draft.head.awaitsContinue && answer.reading.limit == 0 ? answer.closing() : answer
                phase = .answering(AnswerWriter(answer, to: draft.head), hasMore: !draft.request.isComplete)
            } else {
                phase = .computing(draft)
            }
            return .record(draft.request)
        case .computing(let draft):
            return .compute(draft.request)
        case .answering(var writer, let hasMore):
            let step = writer.next()
            phase = .answering(writer, hasMore: hasMore)
            switch step {
            case .send(let data): return .write(data)
            case .pause(let pause): return .wait(pause)
            case .end(.keep): phase = hasMore ? .skipping : .listening
            case .end(.close): phase = .over(.close)
            case .end(.reset): phase = .over(.reset)
            }
            return nil
        case .skipping:
            while let event = try parser.next(&input) {
                guard event != .end else {
                    phase = .listening
                    return nil
                }
            }
            return .read(Self.blockLength)
        case .parting(let words):
            phase = .over(.close)
            return .write(words)
        case .over(let action):
            return action
        }
    }

    private mutating func read(
        _ draft: inout Draft, _ answer: Answer?, isPaced: Bool
    ) throws(RequestParser.Fault) -> Action? {
        let limit = answer?.reading.limit
        // Nothing more has to come of what has come whole.
        if let limit, draft.request.bodyLength >= limit, draft.head.framing != .length(draft.request.bodyLength) {
            phase = .recording(draft, answer)
            return nil
        }
        switch try parser.next(&input) {
        case .body(let bytes):
            // Nobody else holds the body while it grows: all of it would be copied for each piece.
            phase = .over(.close)
            // No more than the answer asks for, however much has come at once.
            let wanted = limit.map { bytes.prefix($0 - draft.request.bodyLength) } ?? bytes
            draft.request.add(wanted, keeping: bodyLimit)
            phase = .reading(draft, answer, isPaced: isPaced)
            return nil
        case .end:
            draft.request.isComplete = true
            phase = .recording(draft, answer)
            return nil
        case .head, nil:
            let pace = answer?.reading.pace
            if let pause = pace?.pause, !isPaced {
                phase = .reading(draft, answer, isPaced: true)
                return .wait(pause)
            }
            phase = .reading(draft, answer, isPaced: false)
            let most = pace?.length ?? Self.blockLength
            return .read(limit.map { max(min(most, $0 - draft.request.bodyLength), 1) } ?? most)
        }
    }

    // MARK: What comes back

    /// Sets the answer for the request. Nil, if the answer will be computed.
    mutating func route(to answer: Answer?, parameters: [String: String] = [:]) {
        guard case .routing(var draft) = phase else { return }
        draft.request.parameters = parameters
        let isAwaited = draft.head.awaitsContinue && answer?.reading.limit != 0
        phase = isAwaited ? .inviting(draft, answer) : .reading(draft, answer, isPaced: false)
    }

    /// This answers the request that was to be computed.
    mutating func computed(_ answer: Answer) {
        guard case .computing(let draft) = phase else { return }
        phase = .answering(AnswerWriter(answer, to: draft.head), hasMore: false)
    }
}

extension LoopbackServer.Request {
    fileprivate init(_ head: RequestHead, connection: Int) {
        self.connection = connection
        method = head.method
        target = head.target
        headers = head.headers
        self.head = Data(head.bytes)
    }

    fileprivate mutating func add(_ bytes: ArraySlice<UInt8>, keeping limit: Int) {
        bytes.withUnsafeBytes { fingerprint.add($0) }
        bodyLength += bytes.count
        body += bytes.prefix(max(limit - body.count, 0))
    }
}
