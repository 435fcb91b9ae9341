#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

/// A network, a caller and a reader around the state machine, in every order. Bytes are numbered.
private struct ExchangeSystem: Explorable {
    enum Move: Hashable {
        case begin, head(gathers: Bool, skips: Bool), bytes, turnEnd, end, breakOff, fail, ask, takeReady, cancel,
            release
    }
    private struct Fault: Error, CustomStringConvertible { let description = "fault" }
    private typealias Machine = CurlExchangeStateMachine<Int, Int, Int>

    struct Footprint: Hashable {
        let machine: String
        let model: String
    }

    private struct Model {
        var isSubmitted = false
        var hasHead = false
        var hasEnded = false
        var isPaused = false
        var stops = 0
        var skips = false
        var taken: UInt8 = 0
        var delivered: UInt8 = 0
        var sender: Bool?
        var isAnswered = false
        var reader: Int?
        var readers = 0
        var finishes = 0
        var isGone = false
        /// True if the end of the turn has an arrival to report.
        var isDirty = false
    }

    private var machine = Machine(window: 4)
    private var model = Model()

    var footprint: Footprint { Footprint(machine: "\(machine)", model: "\(model)") }

    var moves: [Move] {
        var moves: [Move] = []
        if model.sender == nil { moves.append(.begin) }
        if model.isSubmitted, !model.hasEnded {
            if !model.hasHead {
                for gathers in [true, false] { moves += [true, false].map { .head(gathers: gathers, skips: $0) } }
            } else if !model.isPaused, model.taken < 9 {
                moves.append(.bytes)
            }
            moves += [.end, .breakOff]
        }
        if model.isDirty { moves.append(.turnEnd) }
        if model.isAnswered, !model.isGone, model.readers < 5, model.reader == nil { moves += [.ask, .takeReady] }
        if !model.hasEnded, model.stops == 0 { moves.append(.fail) }
        if !model.isGone { moves.append(.cancel) }
        if model.isAnswered, !model.isGone, model.reader == nil { moves.append(.release) }
        return moves
    }

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .begin:
            model.sender = false
            try perform(.begin(0))
        case .head(let gathers, let skips):
            model.hasHead = true
            model.isDirty = true
            try perform(.head(1, gathered: gathers ? 3 : 0, skipLimit: skips ? 2 : 0))
        case .bytes: try receive()
        case .turnEnd:
            model.isDirty = false
            try perform(.turnEnded)
        case .end, .breakOff:
            model.hasEnded = true
            model.isDirty = true
            try perform(.ended(move == .end ? nil : Fault()))
        case .fail:
            model.isDirty = true
            try perform(.fail(Fault()))
        case .ask:
            model.readers += 1
            model.reader = model.readers
            try perform(.ask(model.readers))
        case .takeReady:
            guard let ready = machine.takeReady() else { break }
            guard let piece = ready.piece else {
                try require(model.hasEnded && model.delivered == model.taken, "ended before its end")
                break
            }
            try deliver(piece, resumes: ready.resumes)
        case .cancel:
            model.isGone = true
            try perform(.cancel)
        case .release:
            model.isGone = true
            try perform(.release)
        }
        try checkRest()
    }

    private mutating func receive() throws(Violation) {
        let piece = [model.taken, model.taken + 1, model.taken + 2]
        switch machine.receive(piece.span.bytes) {
        case .taken:
            model.taken += 3
            model.isDirty = true
        case .paused: model.isPaused = true
        case .refused: try perform(.ended(Fault()), ends: true)
        }
    }

    private mutating func perform(_ event: Machine.Event, ends: Bool = false) throws(Violation) {
        if ends { model.hasEnded = true }
        if ends { model.isDirty = true }
        switch machine.event(event) {
        case .none: break
        case .submit: model.isSubmitted = true
        case .answer:
            try require(model.sender == false && !model.isGone, "answered twice, or after a cancel")
            (model.sender, model.isAnswered) = (true, true)
        case .refuse(_, _, let stops):
            try require(model.sender == false, "refused twice")
            model.sender = true
            if stops { model.stops += 1 }
        case .deliver(let reader, let piece, let resumes):
            try require(model.reader == reader && !model.isGone, "delivered to nobody")
            model.reader = nil
            try deliver(piece, resumes: resumes)
        case .finish(let reader, let error, let stops):
            try require(model.reader == reader, "finished for nobody")
            try require(error != nil || model.hasEnded && model.delivered == model.taken, "finished before the end")
            model.reader = nil
            if stops { model.stops += 1 }
        case .stop: model.stops += 1
        case .skip:
            try require(!model.skips, "skipped twice")
            (model.skips, model.isPaused) = (true, false)
        }
    }

    private mutating func deliver(_ piece: Data, resumes: Bool) throws(Violation) {
        try require(piece.first == model.delivered && !piece.isEmpty, "bytes out of order")
        model.delivered += UInt8(piece.count)
        try require(model.delivered <= model.taken, "bytes from nowhere")
        if resumes {
            try require(model.isPaused, "resumed without a pause")
            model.isPaused = false
        }
    }

    private func checkRest() throws(Violation) {
        try require(model.stops <= 1, "stopped twice")
        try require(machine.unreadCount <= 6, "more is kept than there is room for")
        let runs = model.isSubmitted && !model.hasEnded && model.stops == 0
        let waits = runs && model.reader != nil && !model.isDirty
        try require(!(waits && model.isPaused), "a reader waits for a paused transfer")
        try require(!(model.isGone && model.reader != nil), "a reader waits for what is gone")
        guard !model.isDirty, model.hasEnded || model.stops > 0 else { return }
        try require(model.sender != false, "the caller waits for ever")
        try require(model.reader == nil, "the reader waits for ever")
        try require(!model.isGone || model.hasEnded || model.stops + (model.skips ? 1 : 0) > 0, "nothing ends it")
    }
}

@Suite("The state machine of an exchange over libcurl", .timeLimit(.ample))
struct CurlExchangeStateMachineTests {
    @Test("answers each caller and reader once, in every order of events")
    func everyOrder() {
        let found = Exploration(of: ExchangeSystem())

        #expect(found.violation == nil && found.states > 1_000, "\(found.states) states, \(found.violation ?? "")")
    }
}
#endif
