import IDMCore
import TestSupport
import Testing

@Suite("A mailbox", .timeLimit(.ample))
struct MailboxTests {
    @Test("is given up before what that brings about happens, and its reader hears of it after that")
    @MainActor
    func abandoned() async throws {
        let (mailbox, log) = (Mailbox<Int>(), Log())
        let reading = Task.immediate {
            defer { log.add("heard") }
            return try await mailbox.next(isolation: #isolation)
        }
        mailbox.abandon {
            mailbox.send(1)
            mailbox.end(.finished)
            log.add("action")
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        await #expect(throws: CancellationError.self) { try await mailbox.next(isolation: #isolation) }
        #expect(log.entries == ["action", "heard"])
    }

    @Test("that is given up forgets what lies there")
    func leftovers() async throws {
        let mailbox = Mailbox<Int>(first: 1)
        var actions = 0
        mailbox.abandon { actions += 1 }
        await #expect(throws: CancellationError.self) { try await mailbox.next(isolation: nil) }
        #expect(actions == 1)
    }
}
