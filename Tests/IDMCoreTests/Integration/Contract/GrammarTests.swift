import IDMCore
import IDMTesting
import TestSupport
import Testing

/// The events of a call for each way to end, and wherever it is made.
@Suite(.inScope, .timeLimit(.ample))
struct GrammarTests {
    private let log = Log()
    private let gone = Signal()

    @Test(arguments: WayToEnd.allCases, CallerPlace.allCases)
    func `each way to end delivers its events, and the task has that outcome`(
        way: WayToEnd, place: CallerPlace
    ) async throws {
        let task = try await place.run { isolation in
            try await way.run(isolation: isolation) {
                $0.recorded(in: log, isolation: isolation).opening(gone, isolation: isolation)
            }
        }
        try await gone.wait()
        #expect(log.entries == way.events)

        switch await task?.outcome {
        case .success(let value): #expect(way.end == "success \(value)")
        case .failure(let error): #expect(way.end == "error \(error)")
        case .cancelled(let reason): #expect(way.end == "cancel \(reason)")
        case nil: #expect(way.end == "cancel released")
        }
    }

    @Test(arguments: WayToEnd.allCases)
    func `a call without handlers ends`(way: WayToEnd) async throws {
        let task = try await way.run { $0 }
        await task?.finish()
    }
}
