import IDMCore
import TestSupport
import Testing

@Suite("A mailbox", .timeLimit(.ample))
struct MailboxTests {
    @Test("is given up before what that brings about happens, and its reader hears of it after that")
    func abandoned() async throws {
        let (mailbox, executor, actions) = (Mailbox<Int>(), CountingExecutor(), Log())
        let reading = Task(executorPreference: executor) { try await mailbox.next(isolation: nil) }
        try await executor.ran(1)
        mailbox.abandon {
            mailbox.send(1)
            mailbox.end(.finished)
            actions.add("after job \(executor.jobCount)")
        }
        #expect(executor.jobCount == 2)
        #expect(actions.entries == ["after job 1"])
        await #expect(throws: CancellationError.self) { try await reading.value }
        await #expect(throws: CancellationError.self) { try await mailbox.next(isolation: nil) }
    }

    @Test("that is given up forgets what lies there, and does what that brings about each time")
    func leftovers() async throws {
        let mailbox = Mailbox<Int>(first: 1)
        var actions = 0
        for _ in 0..<2 { mailbox.abandon { actions += 1 } }
        await #expect(throws: CancellationError.self) { try await mailbox.next(isolation: nil) }
        #expect(actions == 2)
    }
}
