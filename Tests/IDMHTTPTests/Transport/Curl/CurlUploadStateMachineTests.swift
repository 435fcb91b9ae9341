#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

/// A producer and libcurl around the queue between them, in every order. Bytes are numbered.
private struct UploadSystem: Explorable {
    enum Move: Hashable { case append(Int), complete, read(Int), end }
    struct Footprint: Hashable {
        let machine: String
        let model: String
    }

    private struct Model {
        var appended: UInt8 = 0
        var read: UInt8 = 0
        var isProducing = true
        var producer: Int?
        var producers = 0
        var isPaused = false
        var isOver = false
        var sawEnd = false
    }

    private var machine = CurlUploadStateMachine<Int>(window: 4)
    private var model = Model()

    var footprint: Footprint { Footprint(machine: "\(machine)", model: "\(model)") }

    var moves: [Move] {
        var moves: [Move] = []
        if model.isProducing, model.producer == nil {
            if model.appended < 9 { moves += [.append(1), .append(3)] }
            moves.append(.complete)
        }
        if !model.isPaused, !model.sawEnd, !model.isOver { moves += [.read(2), .read(5)] }
        if !model.isOver { moves.append(.end) }
        return moves
    }

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .append(let count):
            model.producers += 1
            model.producer = model.producers
            let piece = Data((0..<UInt8(count)).map { model.appended + $0 })
            model.appended += UInt8(count)
            try perform(machine.append(piece, model.producers))
        case .complete:
            model.isProducing = false
            try perform(machine.complete())
        case .read(let room):
            let (supply, action) = machine.read(upTo: room)
            switch supply {
            case .bytes(let pieces):
                for byte in pieces.joined() {
                    try require(byte == model.read, "bytes out of order")
                    model.read += 1
                }
                try require(pieces.joined().count <= room, "more than there is room for")
            case .paused: model.isPaused = true
            case .end:
                try require(!model.isProducing && model.read == model.appended, "ended before its end")
                model.sawEnd = true
            }
            try perform(action)
            try require(machine.given == Int64(model.read), "counted wrongly")
        case .end:
            model.isOver = true
            try perform(machine.end())
        }
        try checkRest()
    }

    private mutating func perform(_ action: CurlUploadStateMachine<Int>.Action) throws(Violation) {
        if action.resumes {
            try require(model.isPaused, "resumed without a pause")
            model.isPaused = false
        }
        guard let (producer, goesOn) = action.producer else { return }
        try require(producer == model.producer, "nobody waits")
        try require(goesOn != model.isOver, "goes on when it is over, or not when it isn't")
        model.producer = nil
        if !goesOn { model.isProducing = false }
    }

    private func checkRest() throws(Violation) {
        try require(!(model.producer != nil && (model.isPaused || model.isOver)), "both wait for each other")
        let hasNews = model.read < model.appended || !model.isProducing
        try require(!(model.isPaused && hasNews && !model.isOver), "libcurl waits for what is there")
    }
}

@Suite("The queue of a body that is sent over libcurl", .timeLimit(.ample))
struct CurlUploadStateMachineTests {
    @Test("loses no byte and leaves neither side waiting, in every order of events")
    func everyOrder() {
        let found = Exploration(of: UploadSystem())

        #expect(found.violation == nil && found.states > 100, "\(found.states) states")
    }

    @Test("gives a body that is in memory to its end without a producer")
    func inMemory() {
        var machine = CurlUploadStateMachine<Int>(Data("hello".utf8), window: 4)

        let supplies = (0..<3).map { _ in machine.read(upTo: 3).0 }

        #expect(supplies == [.bytes([Data("hel".utf8)]), .bytes([Data("lo".utf8)]), .end])
    }
}
#endif
