import IDMTesting
import TestSupport
import Testing

@testable import IDMCore
@testable import IDMHTTP

@Suite("The progress of a group", .timeLimit(.ample))
struct TransferProgressesTests {
    /// A group of which the test says how far it has come, of 100 bytes.
    private struct Group: Sendable {
        let clock = ManualClock()
        let changes = LatestValue<Void>(())
        let log = Log()
        private let count = Observed<(bytes: Int64, members: UInt64)>((0, 1))

        func set(_ bytes: Int64, members: UInt64 = 1) {
            count.change { $0 = (bytes, members) }
            changes.set(())
        }

        /// Reads to the end, and writes down what it hears.
        func follow() -> Task<Void, Never> {
            let progresses = TransferProgresses(clock: clock) { [changes] in
                changes
            } isOver: { [count] in
                count.value.bytes == 100
            } look: { [count] in
                let (bytes, members) = count.value
                return TransferGroup(
                    progress: TransferProgress(completed: bytes, total: 100), members: members, isOver: bytes == 100)
            }
            return Task { [log] in
                for await progress in progresses { log.add("\(progress.completed)") }
            }
        }
    }

    @Test("is told ten times a second at most, and the latest of it")
    func limited() async throws {
        let group = Group()
        let follower = group.follow()
        try await group.log.contains("0")
        for second in 1...3 {
            group.set(Int64(second * 10))
            try await group.clock.waitForSleepers(1)
            group.set(Int64(second * 10 + 1))
            await group.clock.advance(by: .milliseconds(99))
            #expect(group.log.entries.count == second)
            await group.clock.advance(by: .milliseconds(1))
            try await group.log.contains("\(second * 10 + 1)")
        }
        #expect(group.log.entries == ["0", "11", "21", "31"])
        follower.cancel()
        await follower.value
    }

    @Test("has an end that is told at once")
    func end() async throws {
        let group = Group()
        let follower = group.follow()
        try await group.log.contains("0")
        group.set(50)
        try await group.clock.waitForSleepers(1)
        group.set(100)
        await follower.value
        #expect(group.log.entries == ["0", "100"])
    }

    @Test("is nothing that one who was cancelled waits for")
    func cancelled() async throws {
        let group = Group()
        let follower = group.follow()
        try await group.log.contains("0")
        group.set(50)
        try await group.clock.waitForSleepers(1)
        follower.cancel()
        await follower.value
        #expect(group.log.entries == ["0"])
    }

    @Test("falls only when others count than before")
    func others() async throws {
        let group = Group()
        let follower = group.follow()
        try await group.log.contains("0")
        for (count, members, told) in [(90, 1, 90), (20, 1, 90), (20, 2, 20), (10, 2, 20), (100, 2, 100)] {
            await group.clock.advance(by: .milliseconds(100))
            group.set(Int64(count), members: UInt64(members))
            try await group.log.contains("\(told)")
        }
        await follower.value
        #expect(group.log.entries == ["0", "90", "20", "100"])
    }
}
