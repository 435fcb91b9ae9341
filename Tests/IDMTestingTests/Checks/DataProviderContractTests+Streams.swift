import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What becomes of streams that are open at once.
extension DataProviderContractTests {
    @Test("isn't broken by streams that end where all others fail by chance")
    func failingStreams() async throws {
        let made = Watched(0)
        let found = try await check(rules: [.takesConcurrentRequests]) { clock in
            let isSecond = made.countOne() == 2
            return Counting(clock: clock, isCut: false, error: isSecond ? Trouble.first : nil)
        }
        #expect(found.rules == [])
        // Streams that end are held against others that nobody cancels, for each of the four ways to cancel.
        #expect(made.value == 2 + 2 + 2 + 2 + 2)
    }

    @Test("is broken by a stream in which the cancel of one request cuts off others")
    func cutOff() async throws {
        let found = try await check { Counting(clock: $0, isCut: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 10 of them ended early."
            ])
        #expect(try await broken { Counting(clock: $0, isCut: false) } == [])
    }

    @Test("is kept by streams that end the sooner, the fewer there are")
    func narrow() async throws {
        #expect(try await broken { Narrow(clock: $0) } == [])
    }

    @Test("is broken by a stream that ends as cancelled by itself, also after a value")
    func streamCancelsItself() async throws {
        for pause in [Duration.zero, .milliseconds(100)] {
            let found = try await check { Counting(clock: $0, isCut: false, pause: pause, error: CancellationError()) }
            #expect(found.rules == [.answersOnce], "\(pause)")
            #expect(found.messages == ["expected a value or an error, and it ended as cancelled."])
        }
    }
}

/// A stream of three values, with a pause after each.
final class Counting: StreamDataProvider {
    private let cuts = Watched(0)
    private let requests = Watched(0)
    private let clock: ManualClock
    private let isCut: Bool
    private let isVarying: Bool
    private let pause: Duration
    private let error: (any Error)?

    /// - Parameters:
    ///   - isCut: Whether a cancel ends all that are open.
    ///   - isVarying: Whether some have fewer values.
    ///   - error: Ends each after its first value.
    init(
        clock: ManualClock, isCut: Bool, isVarying: Bool = false, pause: Duration = .milliseconds(100),
        error: (any Error)? = nil
    ) {
        self.clock = clock
        self.isCut = isCut
        self.isVarying = isVarying
        self.pause = pause
        self.error = error
    }

    func values(for input: Int) -> Values {
        let number = requests.countOne()
        return Values(stream: self, length: isVarying ? number % 3 + 1 : 3, input: input)
    }

    struct Values: AsyncSequence, AsyncIteratorProtocol {
        let stream: Counting
        let length: Int
        let input: Int
        var count = 0

        func makeAsyncIterator() -> Values { self }

        mutating func next() async throws -> Int? { try await next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> Int? {
            guard count > 0 else {
                count = 1
                return input
            }
            do {
                try await stream.clock.sleep(for: stream.pause)
            } catch {
                if stream.isCut { stream.cuts.change { $0 += 1 } }
                throw error
            }
            if stream.isCut && stream.cuts.value > 0 || count == length { return nil }
            if let error = stream.error { throw error }
            count += 1
            return input
        }
    }
}

/// A stream whose second value takes the longer, the more streams there are: three seconds for twenty of them.
private final class Narrow: StreamDataProvider {
    private let open = Watched(0)
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func values(for input: Int) -> AsyncThrowingStream<Int, any Error> {
        open.change { $0 += 1 }
        return clock.stream(first: input) { [clock, open] continuation in
            defer { open.change { $0 -= 1 } }
            for _ in 0..<10 { try await clock.sleep(for: .milliseconds(15) * open.value) }
            continuation.yield(input)
        }
    }
}
