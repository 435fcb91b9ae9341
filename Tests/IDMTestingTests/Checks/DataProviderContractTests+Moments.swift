import IDMCore
import IDMTesting
import TestSupport
import Testing

/// When a cancel comes.
extension DataProviderContractTests {
    @Test("is broken by a provider that mostly answers after its cancel, whichever it hears")
    func mostlyDeaf() async throws {
        for heard in 0..<4 {
            let made = Watched(0)
            let found = try await check(rules: [.answersNothingAfterCancel]) { clock in
                let number = made.countOne()
                return Hesitant(clock: clock, deafFrom: number % 4 == heard ? nil : .zero)
            }
            #expect(found.rules == [.answersNothingAfterCancel], "\(heard)")
        }
    }

    @Test("is kept by a provider whose answer is on its way just when the cancel comes")
    func answerOnItsWay() async throws {
        #expect(try await broken { Hesitant(clock: $0, deafFrom: .milliseconds(19)) } == [])
    }

    @Test("says nothing of a provider that answers before it would be cancelled, and much of one that does later")
    func deafButFast() async throws {
        for time in [7, 11, 14, 17, 19] {
            #expect(try await broken { Deaf(duration: .milliseconds(time), clock: $0) } == [], "\(time)")
        }
        #expect(try await broken { Deaf(duration: .milliseconds(30), clock: $0) } == [.answersNothingAfterCancel])
    }

    @Test("is kept by a stream that never suspends, and has values for ever until it is cancelled")
    func neverSuspending() async throws {
        // These two give it the time of a cancel to end, and the others have it end within that.
        let goingOn: Set<DataProviderContract.Rule> = [.answersOnce, .takesConcurrentRequests]
        for rules in [goingOn, Set(DataProviderContract.Rule.allCases).subtracting(goingOn)] {
            let patience = DataProviderContract.Patience(
                request: .seconds(60), cancel: rules == goingOn ? .milliseconds(10) : .seconds(60))
            let found = try await DataProviderContract.check(input: 1, patience: patience, rules: rules) { Endless() }
            #expect(found == [])
        }
    }

    @Test("takes no longer than some twenty requests, one after the other")
    func length() async throws {
        let one = try await check { Waiting(clock: $0) }
        #expect(one.messages == [])
        #expect(.seconds(9)..<(.seconds(10)) ~= one.waited, "\(one.waited)")
        let several = try await check(inputs: 2, 3) { Waiting(clock: $0) }
        #expect(several.messages == [])
        #expect(.seconds(20)..<(.seconds(21)) ~= several.waited, "\(several.waited)")
        let two = try await check(inputs: 2) { Waiting(clock: $0) }
        #expect(.seconds(18)..<(.seconds(19)) ~= two.waited, "\(two.waited)")
        // Where an answer doesn't come, no more are waited for that nobody will need.
        let silent = try await check(inputs: 2, 3, rules: [.takesConcurrentRequests]) { _ in
            ClosureDataProvider { (_: Int) in
                try await Watched(false).wait { $0 }
                return 0
            }
        }
        #expect(silent.messages == [])
        #expect(silent.waited < .seconds(31))
    }
}

/// Answers after some time, near the end of which it doesn't hear a cancel.
private struct Hesitant: DataProvider {
    let clock: ManualClock
    /// From when on it is deaf. Nil for never.
    let deafFrom: Duration?

    func request(_ input: Int) async throws -> Int {
        try await clock.sleep(for: deafFrom ?? .seconds(1))
        let isOver = Watched(false)
        LibraryTask.start(clock: clock, isolation: nil) { [clock] _ in
            try? await clock.sleep(for: .milliseconds(100))
            isOver.change { $0 = true }
        }
        try? await isOver.wait(deaf: true) { $0 }
        return input
    }
}

/// A stream that is never at rest.
private struct Endless: StreamDataProvider {
    func values(for input: Int) -> AsyncThrowingStream<Int, any Error> {
        AsyncThrowingStream {
            try Task.checkCancellation()
            return input
        }
    }
}

/// Answers after a second.
private final class Waiting: DataProvider {
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        try await clock.sleep(for: .seconds(1))
        return input
    }
}
