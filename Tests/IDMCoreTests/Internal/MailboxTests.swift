import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct MailboxTests {
    @Test func `abandoning a mailbox runs the action before the waiting reader resumes`() async throws {
        let (mailbox, executor, actions) = (Mailbox<Int>(), CountingExecutor(), Log())
        let reading = Task(executorPreference: executor) { try await mailbox.next(isolation: nil) }
        try await executor.ran(1)

        mailbox.abandon {
            mailbox.send(1)
            mailbox.end(.finished)
            actions.add("after job \(executor.jobCount)")
        }

        #expect(executor.jobCount == 2 && actions.entries == ["after job 1"])
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func `an abandoned mailbox has no values, and runs its action each time`() async throws {
        let (mailbox, actions) = (Mailbox<Int>(first: 1), Log())

        for _ in 0..<2 { mailbox.abandon { actions.add("action") } }

        await #expect(throws: CancellationError.self) { try await mailbox.next(isolation: nil) }
        #expect(actions.count == 2)
    }

    @Test func `releasing the replaced value may set another one`() async throws {
        let (latest, log) = (LatestValue<DeinitObserver?>(nil), Log())
        latest.set(
            DeinitObserver {
                latest.set(nil)
                log.add("released")
            })

        latest.set(nil)

        #expect(await latest.next(after: 0)?.version == 4 && log.entries == ["released"])
    }
}
