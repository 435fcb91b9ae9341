import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Every order of a sender's and a reader's events, against a list.
@Suite(.timeLimit(.ample))
struct MailboxStateMachineTests {
    private enum Event: CaseIterable { case send, finish, fail, poll, wait, abandon }

    private struct World {
        var state = MailboxStateMachine<Int, Int>()
        var sent: [Int] = []
        var read: [Int] = []
        var waiter: Int?
        var nextNumber = 1
        var end: Event?
        var isEndRead = false
        var isAbandoned = false

        mutating func perform(_ event: Event) -> [String] {
            nextNumber += 1
            switch event {
            case .send:
                if end == nil && !isAbandoned { sent.append(nextNumber) }
                return resume(state.send(nextNumber))
            case .finish, .fail:
                let (isFirst, action) = state.end(event == .finish ? .finished : .failed(Trouble.first))
                let mustBeFirst = end == nil && !isAbandoned
                if mustBeFirst { end = event }
                return (isFirst == mustBeFirst ? [] : ["end was first: \(isFirst)"]) + resume(action)
            case .poll:
                guard waiter == nil else { return [] }
                guard let item = state.poll() else {
                    return sent == read && end == nil && !isAbandoned ? [] : ["found nothing"]
                }
                return take(item)
            case .wait:
                // One reader: it doesn't wait twice.
                guard waiter == nil else { return [] }
                waiter = nextNumber
                return resume(state.wait(nextNumber))
            case .abandon:
                let (action, leftovers) = state.abandon()
                let unread = Array(sent.dropFirst(read.count))
                let mustLeave = isAbandoned || waiter != nil ? [] : unread
                isAbandoned = true
                return (leftovers.values == mustLeave ? [] : ["left \(leftovers)"]) + resume(action)
            }
        }

        private mutating func resume(_ action: MailboxStateMachine<Int, Int>.Action) -> [String] {
            switch action {
            case .none:
                let mustResume = waiter != nil && (isAbandoned || end != nil || sent != read)
                return mustResume ? ["a reader waits for ever"] : []
            case .resume(let resumed, let item):
                guard resumed == waiter else { return ["resumed a wrong reader"] }
                waiter = nil
                return take(item)
            }
        }

        private mutating func take(_ item: MailboxItem<Int>) -> [String] {
            switch item {
            case .success(let value?):
                read.append(value)
                return sent.starts(with: read) && !isAbandoned ? [] : ["read \(read) of \(sent)"]
            case .success(nil):
                defer { isEndRead = true }
                return read == sent && (end == .finish || (end == .fail && isEndRead)) ? [] : ["ended too early"]
            case .failure(let error as Trouble):
                defer { isEndRead = true }
                return error == .first && end == .fail && read == sent && !isEndRead ? [] : ["failed wrongly"]
            case .failure(let error):
                return error is CancellationError && isAbandoned ? [] : ["cancelled wrongly"]
            }
        }
    }

    @Test func `a mailbox loses no value and no reader in every order of seven events`() {
        var faults: Set<String> = []
        func explore(_ world: World, _ depth: Int) {
            guard depth > 0 else { return }
            for event in Event.allCases {
                var next = world
                faults.formUnion(next.perform(event))
                if next.state.hasEnded != (next.end != nil || next.isAbandoned) { faults.insert("wrong about its end") }
                explore(next, depth - 1)
            }
        }
        explore(World(), 7)
        #expect(faults.isEmpty)
    }

    @Test func `a second reader fails, and the first one gets the value`() {
        var state = MailboxStateMachine<Int, Int>()
        guard case .none = state.wait(1), case .resume(2, .failure) = state.wait(2),
            case .resume(1, .success(5)) = state.send(5)
        else {
            Issue.record("The second reader was let in, or the first one forgotten.")
            return
        }
    }
}

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

    @Test func `releasing the replaced value may set a new one`() async throws {
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
