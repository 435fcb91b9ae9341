import Foundation
import IDMHTTP

/// Writes an answer, a block at a time.
struct AnswerWriter: Sendable {
    typealias Answer = LoopbackServer.Answer

    enum Step: Sendable {
        case send(Data)
        case pause(Pause)
        case end(End)
    }

    enum End: Sendable, Hashable {
        case keep, close, reset
    }

    private enum Section: Sendable {
        case head(sent: Int)
        case body(sent: Int, isPaced: Bool)
        case tail
        case end
        case over(End)
    }

    static let blockLength = 1 << 16

    private let head: Data
    private let body: AnswerBody
    private let framing: Answer.Framing
    private let pace: Answer.Pace?
    private let closes: Bool
    /// The pauses and breaks of the answer, in order.
    private var events: ArraySlice<(point: Answer.Point, event: Answer.Event)>
    private var section = Section.head(sent: 0)

    init(_ answer: Answer, to request: RequestHead) {
        let response = AnswerHead(answer, to: request)
        head = response.bytes
        body = response.body
        framing = response.framing
        closes = response.closes
        pace = answer.pace
        // Those at the same point in the order in which they were written: sorting alone wouldn't keep it.
        events =
            answer.events.enumerated()
            .sorted {
                ($0.element.point.section, $0.element.point.offset, $0.offset)
                    < ($1.element.point.section, $1.element.point.offset, $1.offset)
            }
            .map(\.element)[...]
    }

    mutating func next() -> Step {
        if let event = dueEvent() {
            switch event {
            case .pause(let pause): return .pause(pause)
            case .close: return finish(.close)
            case .reset: return finish(.reset)
            }
        }
        switch section {
        case .over(let end):
            return .end(end)
        case .head(let sent):
            guard sent < head.count else {
                section = .body(sent: 0, isPaced: false)
                return next()
            }
            let end = min(head.count, sent + Self.blockLength, nextEvent(in: .head) ?? .max)
            section = .head(sent: end)
            return .send(head[sent..<end])
        case .body(let sent, let isPaced):
            guard sent < body.length else {
                section = .tail
                return next()
            }
            if !isPaced, let pace, let pause = pace.pause, sent.isMultiple(of: pace.length) {
                section = .body(sent: sent, isPaced: true)
                return .pause(pause)
            }
            return sendBody(sent)
        case .tail:
            section = .end
            guard case .chunks = framing else { return next() }
            return .send(Data("0\r\n\r\n".utf8))
        case .end:
            return finish(closes ? .close : .keep)
        }
    }

    private mutating func finish(_ end: End) -> Step {
        section = .over(end)
        return .end(end)
    }

    private mutating func sendBody(_ sent: Int) -> Step {
        var end = min(body.length, sent + Self.blockLength, nextEvent(in: .body) ?? .max)
        if let pace { end = min(end, sent - sent % pace.length + pace.length) }
        var block = Data()
        if case .chunks(let length) = framing {
            let start = sent - sent % length
            let chunkEnd = min(start + length, body.length)
            end = min(end, chunkEnd)
            if sent == start { block += Data("\(String(chunkEnd - start, radix: 16))\r\n".utf8) }
            block += body.bytes(sent..<end)
            if end == chunkEnd { block += Data("\r\n".utf8) }
        } else {
            block = body.bytes(sent..<end)
        }
        section = .body(sent: end, isPaced: false)
        return .send(block)
    }

    /// Takes the next event, if its point is reached.
    private mutating func dueEvent() -> Answer.Event? {
        guard let next = events.first else { return nil }
        let isDue =
            switch (section, next.point.section) {
            case (.head(let sent), .head): next.point.offset <= sent
            case (.body(let sent, _), .body): next.point.offset <= sent
            case (.body, .head), (.tail, .head), (.tail, .body), (.end, _): true
            default: false
            }
        guard isDue else { return nil }
        return events.removeFirst().event
    }

    private func nextEvent(in section: Answer.Point.Section) -> Int? {
        guard let point = events.first?.point, point.section == section else { return nil }
        return point.offset
    }
}
