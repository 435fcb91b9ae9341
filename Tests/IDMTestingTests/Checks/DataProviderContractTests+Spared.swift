import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What those are answered that nobody cancels, while others are.
extension DataProviderContractTests {
    @Test("is broken by a provider of which a cancel of the one who does the work leaves the others with nothing")
    func emptyAnswers() async throws {
        let found = try await check(inputs: 2, 3) { Joining(clock: $0, isCancelHanded: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        let words = "of them got another answer than alone."
        #expect(found.messages.allSatisfy { $0.hasPrefix(spared) && $0.hasSuffix(words) }, "\(found.messages)")
        #expect(try await check(inputs: 2, 3) { Joining(clock: $0, isCancelHanded: false) }.messages == [])
        // Of which answer is right, one input says nothing.
        #expect(try await broken { Joining(clock: $0, isCancelHanded: true) } == [])
    }

    @Test("is broken by a provider that asks for many at once, and forgets who was cancelled among them")
    func shiftedAnswers() async throws {
        let found = try await check(inputs: 2) { Batching(clock: $0, keepsKeys: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        // Every second one is cancelled: the first of those left gets the answer to the very first.
        let words = "of them got the answer to another input."
        #expect(found.messages.allSatisfy { $0.hasPrefix(spared) && $0.hasSuffix(words) }, "\(found.messages)")
        #expect(try await check(inputs: 2) { Batching(clock: $0, keepsKeys: false) }.messages == [])
    }
}

/// Who comes with the same input as another one waits for what that one gets: nothing, if its work is cancelled.
private final class Joining: DataProvider {
    private let running = Watched<[Int: Watched<Int?>]>([:])
    private let clock: ManualClock
    private let isCancelHanded: Bool

    /// - Parameter isCancelHanded: Whether a cancel of the one who began reaches the work.
    init(clock: ManualClock, isCancelHanded: Bool) {
        self.clock = clock
        self.isCancelHanded = isCancelHanded
    }

    func request(_ input: Int) async throws -> Int {
        let (answer, isFirst) = running.change { running in
            if let answer = running[input] { return (answer, false) }
            let answer = Watched<Int?>(nil)
            running[input] = answer
            return (answer, true)
        }
        let work = isFirst ? start(with: input, answering: answer) : nil
        do {
            try await answer.wait { $0 != nil }
        } catch {
            if isCancelHanded { work?.cancel() }
            throw error
        }
        return answer.value ?? 0
    }

    private func start(with input: Int, answering answer: Watched<Int?>) -> Task<Void, Never> {
        LibraryTask.start(clock: clock, isolation: nil) { [clock, running] _ in
            let value = (try? await clock.sleep(for: .seconds(1))) == nil ? 0 : input
            running.change { $0[input] = nil }
            answer.change { $0 = value }
        }
    }
}

/// Waits for those that come within 10 ms, asks for all of them at once, and deals the answers out in order.
private final class Batching: DataProvider {
    private struct State {
        var keys: [(number: Int, input: Int)] = []
        var readers: [(number: Int, answer: Watched<Int?>)] = []
        var last = 0
    }

    private let state = Watched(State())
    private let clock: ManualClock
    private let keepsKeys: Bool

    /// - Parameter keepsKeys: Whether a request that was cancelled is asked for all the same, with nobody to read it.
    init(clock: ManualClock, keepsKeys: Bool) {
        self.clock = clock
        self.keepsKeys = keepsKeys
    }

    func request(_ input: Int) async throws -> Int {
        let answer = Watched<Int?>(nil)
        let number = state.change { state in
            state.last += 1
            state.keys.append((state.last, input))
            state.readers.append((state.last, answer))
            return state.last
        }
        if number == 1 { start() }
        do {
            try await answer.wait { $0 != nil }
        } catch {
            state.change { [keepsKeys] state in
                state.readers.removeAll { $0.number == number }
                if !keepsKeys { state.keys.removeAll { $0.number == number } }
            }
            throw error
        }
        return answer.value ?? 0
    }

    private func start() {
        LibraryTask.start(clock: clock, isolation: nil) { [clock, state] _ in
            try? await clock.sleep(for: .milliseconds(10))
            let batch = state.change { state in
                defer { state = State() }
                return state
            }
            try? await clock.sleep(for: .seconds(1))
            for (key, reader) in zip(batch.keys, batch.readers) { reader.answer.change { $0 = key.input } }
        }
    }
}
