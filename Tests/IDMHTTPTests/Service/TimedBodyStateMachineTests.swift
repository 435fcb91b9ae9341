import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

/// Readers, a worker that fetches, and silences, in every order.
private struct ReadingSystem: Explorable {
    enum Move { case ask, wait, bring, finish, fail, end, silence }
    struct Footprint: Hashable {
        var waiting: [Int]
        var worker: Worker
        var asked: Int
        var brought: Int
        var ends: Int
        var isListening: Bool
        var hasEnded: Bool
        var isFresh: Bool
    }
    enum Worker: Hashable { case coming, waiting, fetching, gone }
    private struct Fault: Error {}

    private var state = TimedBodyStateMachine<Int, String>()
    private var waiting: [Int] = []
    private var worker = Worker.coming
    private var asked = 0
    private var brought = 0
    private var ends = 0
    private var isListening = false
    private var turnOfListener = 0
    private var isFresh = false

    var footprint: Footprint {
        Footprint(
            waiting: waiting, worker: worker, asked: asked, brought: brought, ends: ends, isListening: isListening,
            hasEnded: state.hasEnded, isFresh: isFresh)
    }

    var moves: [Move] {
        var moves: [Move] = []
        if asked < 4 { moves.append(.ask) }
        if worker == .coming { moves.append(.wait) }
        if worker == .fetching { moves += [.bring, .finish, .fail] }
        if ends < 2 { moves.append(.end) }
        if isListening { moves.append(.silence) }
        return moves
    }

    mutating func make(_ move: Move) throws(Violation) {
        let couldListen = isListening
        switch move {
        case .ask:
            asked += 1
            waiting.append(asked)
            let (action, listens) = state.ask(asked)
            try require(!listens || !couldListen, "two listen for silences")
            isFresh = true
            if listens {
                isListening = true
                turnOfListener = state.turn
                isFresh = false
            }
            try perform(action)
            try require(state.hasEnded || isListening, "nobody listens although somebody waits")
        case .wait:
            worker = .waiting
            try perform(state.wait("w"))
        case .bring:
            brought += 1
            worker = .coming
            let readers = waiting
            isFresh = true
            try perform(state.take(Data([1])))
            try require(
                waiting == (state.hasEnded ? [] : Array(readers.dropFirst())), "a piece goes to the first who waits")
        case .finish, .fail, .end:
            if move != .end { worker = .gone }
            if move == .end { ends += 1 }
            try perform(state.end(move == .finish ? nil : Fault()))
            try require(state.hasEnded && waiting.isEmpty, "somebody waits after the end")
            try require(worker != .waiting, "the worker waits after the end")
            isListening = false
        case .silence:
            let verdict = state.silence(since: turnOfListener)
            switch verdict {
            case .rest:
                try require(waiting.isEmpty, "somebody waits, and nobody listens")
                isListening = false
            case .listen:
                try require(isFresh && !waiting.isEmpty, "a silence isn't heard")
            case .over:
                try require(!isFresh && !waiting.isEmpty, "a silence is heard that is none")
                try perform(state.end(Fault()))
                isListening = false
            }
            turnOfListener = state.turn
            isFresh = false
        }
        try require(waiting.isEmpty || worker != .waiting, "somebody waits, and nobody fetches")
    }

    private mutating func perform(_ action: TimedBodyStateMachine<Int, String>.Action) throws(Violation) {
        switch action {
        case .none: break
        case .tell(_, let goOn):
            try require(worker == .waiting, "a worker is told that doesn't wait")
            worker = goOn ? .fetching : .gone
        case .answer(let readers, let result):
            for reader in readers {
                try require(waiting.contains(reader), "a reader is answered twice")
                waiting.removeAll { $0 == reader }
            }
            if case .success(.some) = result { try require(readers.count == 1, "a piece goes to one reader") }
        }
    }
}

@Suite("A body that is read while it is watched", .timeLimit(.ample))
struct WatchedBodyStateTests {
    @Test("every order of events answers each reader once")
    func explored() {
        let exploration = Exploration(of: ReadingSystem())

        #expect(exploration.violation == nil)
        #expect(exploration.states > 100)
    }

    @Test("a truncated body repeats its error")
    func afterwards() {
        struct Cut: Error {}
        var state = TimedBodyStateMachine<Int, Int>()
        _ = state.end(Cut())
        _ = state.end(nil)

        guard case .answer([1], .failure(is Cut)) = state.ask(1).action else {
            Issue.record("no failure")
            return
        }
    }
}
