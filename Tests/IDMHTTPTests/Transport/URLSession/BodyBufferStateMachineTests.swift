import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

/// A body that comes, is put aside, is read, breaks off and is abandoned, in every order.
private struct FlowSystem: Explorable {
    enum Move: Hashable {
        case begin, head, heldHead, refuse, piece, spill, spillFault, ask, askMore, flush, fetch, fetchFault, end, cut
        case abandon
    }
    struct Footprint: Hashable {
        var phase: Phase
        var coming: Int
        var read: Int
        var disk: [UInt8]
        var pending: Data?
        var fetching: Int?
        var isReading: Bool
        var isStopped: Bool
        var isOver: Bool
        var isAbandoned: Bool
        var hasFailed: Bool
        var memory: Int
        var faults: Int
        var wasTold: Bool
        var isGathering: Bool
        var isToFlush: Bool
        var wantsMore: Bool
    }
    enum Phase: Hashable { case idle, awaiting, flowing, refused }
    struct Fault: Error {}

    private var state = ExchangeStateMachine<Int, String, String>(.init(window: 2, piece: 2, limit: 8), gathered: 1)
    private var phase = Phase.idle
    private var coming: UInt8 = 0
    private var read: UInt8 = 0
    private var disk: [UInt8] = []
    private var pending: Data?
    private var fetching: Int?
    private var isReading = false
    private var isStopped = false
    private var isOver = false
    private var isAbandoned = false
    private var hasFailed = false
    private var faults = 0
    private var wasTold = false
    private var isToFlush = false
    private var wantsMore = false

    var footprint: Footprint {
        Footprint(
            phase: phase, coming: Int(coming), read: Int(read), disk: disk, pending: pending, fetching: fetching,
            isReading: isReading, isStopped: isStopped, isOver: isOver, isAbandoned: isAbandoned,
            hasFailed: hasFailed, memory: state.memoryLength, faults: faults, wasTold: wasTold,
            isGathering: state.isGathering, isToFlush: isToFlush, wantsMore: wantsMore)
    }

    var moves: [Move] {
        var moves: [Move] = []
        if phase == .idle { moves.append(.begin) }
        // The session does one thing after the other, and nothing before a piece is on disk.
        if pending != nil {
            moves += [.spill, .spillFault]
        } else if phase != .idle, !isOver {
            moves += state.isGathering ? [.end, .cut] : [.head, .heldHead, .refuse, .end, .cut]
            if phase == .flowing || state.isGathering || isAbandoned, coming < 9 { moves.append(.piece) }
        }
        if fetching != nil, pending == nil { moves += [.fetch, .fetchFault] }
        if !isReading, phase == .flowing, !wasTold { moves += [.ask, .askMore] }
        if isToFlush { moves.append(.flush) }
        if !isAbandoned { moves.append(.abandon) }
        return moves.filter { faults == 0 || ($0 != .spillFault && $0 != .fetchFault) }
    }

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .begin:
            phase = .awaiting
            try perform(state.begin("sender"))
        case .head: try perform(state.receive(200))
        case .heldHead: try perform(state.receive(200, gathers: true))
        case .refuse: try perform(state.refuse(Fault(), stops: true))
        case .piece:
            coming += 1
            try perform(state.receive(Data([coming])))
        case .spill:
            disk += pending ?? Data()
            pending = nil
            try perform(state.spilled(.success(1)))
        case .spillFault:
            pending = nil
            faults += 1
            hasFailed = true
            try perform(state.spilled(.failure(Fault())))
        case .ask:
            (isReading, wantsMore) = (true, false)
            try perform(state.ask("reader"))
        case .askMore:
            (isReading, wantsMore) = (true, true)
            try perform(state.ask("reader", least: 2))
        case .flush:
            isToFlush = false
            wantsMore = false
            try perform(state.flush())
        case .fetch:
            let count = fetching ?? 0
            fetching = nil
            try require(count <= disk.count && count > 0, "more is fetched than lies there")
            let piece = Data(disk.prefix(count))
            disk.removeFirst(count)
            try perform(state.fetched(.success(piece)))
        case .fetchFault:
            fetching = nil
            faults += 1
            hasFailed = true
            try perform(state.fetched(.failure(Fault())))
        case .end:
            isOver = true
            try perform(state.complete(nil))
        case .cut:
            isOver = true
            hasFailed = true
            try perform(state.complete(Fault()))
        case .abandon:
            isAbandoned = true
            try perform(state.abandon())
            try require(!isReading && phase != .awaiting, "somebody waits for what is abandoned")
        }
        try require(state.memoryLength <= 2, "more is in memory than there is room for")
        if isAbandoned { try require(state.memoryLength == 0, "something is kept that nobody wants") }
        if phase == .flowing, isReading, fetching == nil, pending == nil, !isAbandoned {
            let waitsForMore = wantsMore && isToFlush && state.memoryLength == 1
            try require(
                (read == coming || waitsForMore) && !isOver && !isStopped,
                "somebody waits although there is something to tell")
        }
    }

    private mutating func perform(_ action: ExchangeStateMachine<Int, String, String>.Action) throws(Violation) {
        switch action {
        case .none: break
        case .start: try require(phase == .awaiting && !isAbandoned, "it starts twice, or without anybody")
        case .answer(_, _, let action):
            try require(phase == .awaiting, "an answer without anybody who waits")
            phase = .flowing
            try perform(action)
        case .refuse(_, _, let stops):
            try require(phase == .awaiting, "a refusal without anybody who waits")
            phase = .refused
            if stops { try stop() }
        case .body(let action): try perform(action)
        }
    }

    private mutating func perform(_ action: BodyBufferStateMachine<String>.Action) throws(Violation) {
        switch action {
        case .none: break
        case .deliver(_, let pieces, let stops):
            if stops { try stop() }
            try require(isReading && !isAbandoned, "a piece for nobody")
            isReading = false
            for byte in pieces.joined() {
                read += 1
                try require(byte == read, "\(byte) comes in place of \(read)")
            }
            try require(!pieces.joined().isEmpty, "an empty piece")
        case .finish(_, let error, let stops):
            try require(isReading, "an end for nobody")
            isReading = false
            wasTold = true
            if error == nil {
                try require(isOver && !hasFailed && read == coming && !isAbandoned, "an end that is none")
            } else {
                try require(hasFailed || isAbandoned || coming > 8, "a failure that is none")
            }
            if stops { try stop() }
        case .stop: try stop()
        case .flushLater:
            try require(!isToFlush, "it is to be flushed twice")
            isToFlush = true
        case .spill(let piece):
            try require(pending == nil, "two pieces are put aside at once")
            pending = piece
        case .fetch(let count):
            try require(fetching == nil, "two pieces are fetched at once")
            fetching = count
        }
    }

    private mutating func stop() throws(Violation) {
        try require(!isStopped && !isOver, "it is stopped twice, or after its end")
        isStopped = true
    }
}

@Suite("An exchange", .timeLimit(.ample))
struct BodyBufferStateMachineTests {
    @Test("every order of events loses and exceeds nothing")
    func explored() {
        let exploration = Exploration(of: FlowSystem())

        #expect(exploration.violation == nil)
        #expect(exploration.states > 2_000)
    }

    @Test("hands over as much as there is, up to a size")
    func sizes() {
        var flow = BodyBufferStateMachine<Int>(.init(window: 100 << 10, piece: 40 << 10, limit: .max))
        for _ in 0..<3 { _ = flow.receive(Data(count: 16 << 10)) }

        guard case .deliver(1, let first, false) = flow.ask(1), case .deliver(2, let second, false) = flow.ask(2) else {
            Issue.record("nothing is delivered")
            return
        }
        #expect(first.count == 2 && second.count == 1)
        #expect(flow.memoryLength == 0)
    }

    @Test("gathered reads come from memory and disk")
    func together() {
        var flow = BodyBufferStateMachine<Int>(.init(window: 48 << 10, piece: 40 << 10, limit: .max))
        for _ in 0..<3 { _ = flow.receive(Data(count: 16 << 10)) }
        for _ in 0..<4 {
            guard case .spill(let piece) = flow.receive(Data(count: 16 << 10)) else {
                Issue.record("more is in memory than there is room for")
                return
            }
            _ = flow.spilled(.success(piece.count))
        }

        guard case .deliver(1, let pieces, false) = flow.ask(1, least: 48 << 10),
            case .fetch(let count) = flow.ask(2, least: 48 << 10)
        else {
            Issue.record("nothing is delivered")
            return
        }
        #expect(pieces.count == 3 && count == 48 << 10)
    }

    @Test("puts bytes together that drip in")
    func drip() {
        var flow = BodyBufferStateMachine<Int>(.init(window: 1 << 20, piece: 1 << 20, limit: .max))
        for byte in 0..<40_000 { _ = flow.receive(Data([UInt8(truncatingIfNeeded: byte)])) }

        guard case .deliver(_, let pieces, _) = flow.ask(1) else {
            Issue.record("nothing is delivered")
            return
        }
        #expect(pieces.count == 3)
        #expect(Data(pieces.joined()) == Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0) }))
    }

    @Test("takes as long a body as is allowed, and no longer", arguments: [3, 4])
    func limit(limit: Int) {
        var flow = BodyBufferStateMachine<Int>(.init(window: 10, piece: 10, limit: limit))
        _ = flow.receive(Data(count: 3))
        let action = flow.receive(Data(count: 1))

        switch action {
        case .none: #expect(limit == 4)
        case .stop:
            #expect(limit == 3)
            guard case .deliver = flow.ask(1), case .finish(_, let error, false) = flow.ask(2) else {
                Issue.record("no end")
                return
            }
            #expect((error as? TransportFault)?.kind == .bodyTooLarge(limit: 3))
        default: Issue.record("\(action)")
        }
    }
}
