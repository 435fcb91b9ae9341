import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The kit of the tests", .timeLimit(.ample))
struct SupportTests {
    @Test("A signal lets everybody go on, before and after")
    func signal() async throws {
        let signal = Signal()
        let waiter = Task { try await signal.wait() }
        signal.open()
        try await waiter.value
        try await signal.wait()
        await signal.waitIgnoringCancel()
    }

    @Test("Seats are taken in the order of arrival, by as many as there are, and each that is left is the next one's")
    func seats() async throws {
        let (seats, log, jobs, leave) = (Seats(2), Log(), HeldJobs(), (0..<5).map { _ in Signal() })
        // Everything runs here, so what hasn't happened after this doesn't happen.
        func settle() {
            while jobs.count > 0 { jobs.run() }
        }
        let guests = leave.enumerated().map { number, leave in
            Task(executorPreference: jobs) {
                try await seats.hold {
                    // It has its seat already, and needs no other.
                    await seats.hold { log.add("\(number)") }
                    try await leave.wait()
                    if number == 1 { throw CancellationError() }
                }
            }
        }
        settle()
        #expect(log.entries == ["0", "1"])
        // Whoever waits does so also in a task that is cancelled.
        guests[3].cancel()
        settle()
        #expect(log.entries == ["0", "1"])

        leave[1].open()
        settle()
        #expect(log.entries == ["0", "1", "2"])
        // The one that is cancelled leaves as soon as it has come.
        leave[0].open()
        settle()
        #expect(log.entries == ["0", "1", "2", "3", "4"])

        leave[2].open()
        leave[4].open()
        settle()
        for number in [1, 3] {
            await #expect(throws: CancellationError.self) { try await guests[number].value }
        }
        for number in [0, 2, 4] { try await guests[number].value }
    }

    @Test("Whoever takes several seats has them all at once, and nobody is let past who came later")
    func severalSeats() async throws {
        let (seats, log, jobs, leave) = (Seats(2), Log(), HeldJobs(), (0..<4).map { _ in Signal() })
        func settle() {
            while jobs.count > 0 { jobs.run() }
        }
        let guests = zip([1, 2, 1, 1], leave).enumerated().map { number, guest in
            Task(executorPreference: jobs) {
                try await seats.hold(guest.0) {
                    log.add("\(number)")
                    try await guest.1.wait()
                }
            }
        }
        settle()
        #expect(log.entries == ["0"])
        leave[0].open()
        settle()
        #expect(log.entries == ["0", "1"])
        leave[1].open()
        settle()
        #expect(log.entries == ["0", "1", "2", "3"])

        leave[2].open()
        leave[3].open()
        settle()
        for guest in guests { try await guest.value }
    }
}

@Suite("A test in a scope", .inScope, .timeLimit(.ample))
struct InScopeTests {
    private let recorder = IntegrationRecorder<Int>()

    @Test("has a library that runs as it does for its users: what it starts isn't watched")
    func unwatched() {
        #expect(LibraryTask.executor == nil)
    }

    @Test("has what the kit finds as an issue, at the line of the test")
    func issue() {
        let line = #line + 2
        withKnownIssue {
            recorder.expectRecorded(.began)
        } matching: { issue in
            issue.sourceLocation?.line == line
        }
    }

    @Test("has what is left over as issues: what nobody expected, and a call that goes on")
    func leftovers() async throws {
        let (line, test, found) = (#line + 5, try #require(Test.current), Log())
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        try await withKnownIssue {
            try await InScope().provideScope(for: test, testCase: nil) {
                let recorder = IntegrationRecorder<Int>()
                recorder.call(integrator.prepareCall(1))
                _ = try await provider.waitForRequest()
            }
        } matching: { issue in
            found.add("\(issue.sourceLocation?.line ?? 0)")
            return true
        }
        #expect(found.entries == ["\(line + 1)", "\(line)"])
        integrator.cancel()
    }
}
