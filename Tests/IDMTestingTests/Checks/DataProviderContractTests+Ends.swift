import IDMCore
import IDMTesting
import TestSupport
import Testing

/// How requests end of which nobody asked that they end so.
extension DataProviderContractTests {
    @Test("is broken by a provider that ends as cancelled in the words of the library")
    func cancelsItselfInOtherWords() async throws {
        let found = try await broken { _ in
            ClosureDataProvider<Int, Int> { _ in throw IntegrationError.cancelled(.cancelled) }
        }
        // Of many it is no other fault than of one.
        #expect(found == [.answersOnce])
    }

    @Test("is kept by a provider that turns a request away", arguments: [CancelReason.ignored, .superseded])
    func turnsAway(reason: CancelReason) async throws {
        let found = try await broken { _ in
            ClosureDataProvider<Int, Int> { _ in throw IntegrationError.cancelled(reason) }
        }
        #expect(found == [])
    }

    @Test("is broken by a callback provider that calls back as cancelled though nobody cancelled it")
    func callsBackAsCancelled() async throws {
        #expect(try await broken { _ in CancellingCaller() } == [.answersOnce])
    }

    @Test("is broken by a callback provider whose cancel handler ends other requests")
    func meddlingCaller() async throws {
        let found = try await check { MeddlingCaller(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 10 of them ended as cancelled."
            ])
    }

    @Test("is kept by a callback provider that is there for as long as somebody holds it, as who asks does")
    func heldByWhoAsks() async throws {
        #expect(try await check { WeakCaller(clock: $0) }.messages == [])
    }

    @Test("is kept by a callback provider whose cancel handler holds the completion")
    func handlerHoldsCompletion() async throws {
        #expect(try await check { JobCaller(clock: $0) }.messages == [])
    }

    @Test("is broken by a stream that ends without a value")
    func emptyStream() async throws {
        let found = try await check { _ in Fixed(count: 0) }
        #expect(found.rules == [.answersOnce])
        #expect(found.messages == ["expected a value or an error, and it ended with neither."])
    }

    @Test("is kept by streams that end by themselves, which nobody has to wait for")
    func endingStreams() async throws {
        for count in 1...3 {
            let found = try await check { _ in Fixed(count: count) }
            #expect(found.messages == [])
            #expect(found.waited == .zero)
        }
        #expect(try await broken { Fixed(count: 1).merged(with: Fixed(count: 1).delay(.seconds(1), clock: $0)) } == [])
    }

    @Test("is kept by a stream that ends where a newer one begins")
    func supersedingStream() async throws {
        #expect(try await broken { _ in Hub(endsWith: .newRequest, error: nil) } == [])
    }

    @Test("is broken by a stream in which the cancel of one request ends others after their first value")
    func meddlingStream() async throws {
        for (error, words) in [(CancellationError() as any Error, "ended as cancelled."), (nil, "ended early.")] {
            let found = try await check { _ in Hub(endsWith: .cancel, error: error) }
            #expect(found.rules == [.takesConcurrentRequests])
            #expect(
                found.messages == [
                    "expected the cancel of some of 20 requests to leave the others alone, and 10 of them \(words)"
                ])
        }
    }

    @Test("is kept by a stream with a value on its way when the cancel comes, which ends after that")
    func valueInFlight() async throws {
        #expect(try await broken { Stepping(clock: $0, end: .error) } == [])
        #expect(try await broken { Stepping(clock: $0, end: .nothing) } == [])
    }

    @Test("is broken by a stream that delivers more than that, or ends by itself with that value")
    func deafStream() async throws {
        for end in [Stepping.End.late, .byItself] {
            let found = try await check { Stepping(clock: $0, end: end) }
            #expect(found.rules == [.answersNothingAfterCancel], "\(end)")
            #expect(found.messages == ["expected a cancelled request to throw, and a value came."])
        }
    }

    @Test("says that it couldn't look whether a provider is released of which no use ends")
    func unusable() async throws {
        let found = try await check(rules: [.isReleased]) { _ in ControlledDataProvider<Int, Int>(hearsCancel: false) }
        #expect(found.rules == [.isReleased])
        #expect(found.messages == ["expected a use to end, to look at what holds it then, and none did."])
    }
}

private struct CancellingCaller: CallbackDataProvider {
    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        completion(.failure(CancellationError()))
        return nil
    }
}

/// Answers after some time. A request that is cancelled is forgotten, with the completion, which is never called then.
private struct JobCaller: CallbackDataProvider {
    typealias Completion = @Sendable (Result<Int, any Error>) -> Void

    private final class Job: Sendable {
        let number: Int
        let completion: Completion

        init(_ number: Int, _ completion: @escaping Completion) {
            self.number = number
            self.completion = completion
        }
    }

    private let jobs = Watched((last: 0, running: [Int: Job]()))
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int, completion: @escaping Completion) -> CancelHandler? {
        let job = jobs.change { jobs in
            jobs.last += 1
            let job = Job(jobs.last, completion)
            jobs.running[job.number] = job
            return job
        }
        LibraryTask.start(clock: clock, isolation: nil) { [clock, jobs, number = job.number] _ in
            try? await clock.sleep(for: .seconds(1))
            jobs.change { $0.running.removeValue(forKey: number) }?.completion(.success(input))
        }
        return { [jobs] in _ = jobs.change { $0.running.removeValue(forKey: job.number) } }
    }
}

/// Answers after some time. Whoever is cancelled ends all that run.
final class MeddlingCaller: CallbackDataProvider {
    typealias Completion = @Sendable (Result<Int, any Error>) -> Void

    private let running = Watched<[Int: Completion]>([:])
    private let last = Watched(0)
    private let clock: ManualClock
    private let meddles: Bool

    /// - Parameter meddles: Whether a cancel ends all that are open, and not its own request only.
    init(clock: ManualClock, meddles: Bool = true) {
        self.clock = clock
        self.meddles = meddles
    }

    func request(_ input: Int, completion: @escaping Completion) -> CancelHandler? {
        let number = last.countOne()
        let (running, meddles) = (running, meddles)
        running.change { $0[number] = completion }
        LibraryTask.start(clock: clock, isolation: nil) { [clock] _ in
            try? await clock.sleep(for: .seconds(1))
            running.change { $0.removeValue(forKey: number) }?(.success(input))
        }
        return {
            let all = running.change { running in
                let ending = running.filter { meddles || $0.key == number }
                running = running.filter { ending[$0.key] == nil }
                return ending
            }
            for completion in all.values { completion(.failure(CancellationError())) }
        }
    }
}

/// Calls back after a second, if it is still there.
private final class WeakCaller: CallbackDataProvider {
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        let work = LibraryTask.start(clock: clock, isolation: nil) { [clock, weak self] _ in
            let hasSlept = (try? await clock.sleep(for: .seconds(1))) != nil
            if self != nil { completion(hasSlept ? .success(input) : .failure(CancellationError())) }
        }
        return { work.cancel() }
    }
}

/// A stream of so many values.
private struct Fixed: StreamDataProvider {
    let count: Int

    func values(for input: Int) -> AsyncStream<Int> {
        AsyncStream { continuation in
            for _ in 0..<count { continuation.yield(input) }
            continuation.finish()
        }
    }
}

/// A stream of one value, which then stays open until it ends for all.
private struct Hub: StreamDataProvider {
    enum End { case cancel, newRequest }

    let endsWith: End
    let error: (any Error)?
    /// How often all that was open has ended.
    private let ends = Watched(0)

    init(endsWith: End, error: (any Error)?) {
        self.endsWith = endsWith
        self.error = error
    }

    func values(for input: Int) -> Values { Values(hub: self, input: input) }

    struct Values: AsyncSequence, AsyncIteratorProtocol {
        let hub: Hub
        let input: Int
        var last: Int?

        func makeAsyncIterator() -> Values { self }

        mutating func next() async throws -> Int? { try await next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> Int? {
            guard let last else {
                let endsWith = hub.endsWith
                last = hub.ends.change { ends in
                    // Who is cancelled ends also those that come here later than that.
                    guard endsWith == .newRequest else { return 0 }
                    ends += 1
                    return ends
                }
                return input
            }
            do {
                try await hub.ends.wait { $0 > last }
            } catch {
                if hub.endsWith == .cancel { hub.ends.change { $0 += 1 } }
                throw error
            }
            if let error = hub.error { throw error }
            return nil
        }
    }
}

/// A stream whose values take a while, during which it hears nothing.
private struct Stepping: StreamDataProvider {
    /// How it ends: once it sees that it was cancelled, a value later, or with its second value and no sooner.
    enum End { case error, nothing, late, byItself }

    let clock: ManualClock
    let end: End

    func values(for input: Int) -> Values { Values(stream: self, input: input) }

    struct Values: AsyncSequence, AsyncIteratorProtocol {
        let stream: Stepping
        let input: Int
        var count = 0
        var wasCancelled = false

        func makeAsyncIterator() -> Values { self }

        mutating func next() async throws -> Int? { try await next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> Int? {
            switch stream.end {
            case .error: try Task.checkCancellation()
            case .nothing: if Task.isCancelled { return nil }
            case .late:
                if wasCancelled { throw CancellationError() }
                wasCancelled = Task.isCancelled
            case .byItself: if count == 2 { return nil }
            }
            count += 1
            let isThere = Signal()
            LibraryTask.start(clock: stream.clock, isolation: nil) { [clock = stream.clock] _ in
                try? await clock.sleep(for: .milliseconds(15))
                isThere.open()
            }
            await isThere.waitDeaf()
            return input
        }
    }
}
