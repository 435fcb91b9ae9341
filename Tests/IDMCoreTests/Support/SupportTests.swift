import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.timeLimit(.ample))
struct SupportTests {
    @Test func `a signal resumes tasks that wait before and after it opens`() async throws {
        let signal = Signal()
        let waiter = Task { try await signal.wait() }
        signal.open()
        try await waiter.value
        try await signal.wait()
        await signal.waitIgnoringCancel()
    }

    /// Guests that take the given numbers of two seats each, and leave when their signals open. Guests run on `jobs`
    /// alone, so that an event that did not happen after `settle` does not happen.
    private struct Guests {
        let log = Log()
        let jobs = HeldJobs()
        let leave: [Signal]
        private(set) var tasks: [Task<Void, any Error>] = []

        init(_ counts: [Int], nests: Bool = false) {
            let seats = Seats(2)
            leave = counts.map { _ in Signal() }
            for (number, (count, leave)) in zip(counts, leave).enumerated() {
                tasks.append(
                    Task(executorPreference: jobs) { [log] in
                        try await seats.hold(count) {
                            // A guest that has a seat needs no other.
                            if nests { await seats.hold { log.add("\(number)") } } else { log.add("\(number)") }
                            try await leave.wait()
                        }
                    })
            }
        }

        /// Lets a guest leave and runs all jobs. Returns the guests that have come.
        func settle(leaving guest: Int? = nil) -> String {
            if let guest { leave[guest].open() }
            while jobs.count > 0 { jobs.run() }
            return log.entries.joined()
        }
    }

    @Test func `seats are taken in order of arrival, also by a cancelled task`() async throws {
        let guests = Guests([1, 1, 1, 1, 1], nests: true)
        #expect(guests.settle() == "01")
        guests.tasks[3].cancel()
        #expect(guests.settle() == "01")
        #expect(guests.settle(leaving: 1) == "012")
        // The cancelled guest leaves as soon as it has come.
        #expect(guests.settle(leaving: 0) == "01234")
        for guest in [2, 4] { _ = guests.settle(leaving: guest) }

        await #expect(throws: CancellationError.self) { try await guests.tasks[3].value }
        for guest in [0, 1, 2, 4] { try await guests.tasks[guest].value }
    }

    @Test func `a guest of several seats is not overtaken`() async throws {
        let guests = Guests([1, 2, 1, 1])
        let arrivals = [guests.settle(), guests.settle(leaving: 0), guests.settle(leaving: 1)]
        for guest in 2...3 { _ = guests.settle(leaving: guest) }
        for task in guests.tasks { try await task.value }

        #expect(arrivals == ["0", "01", "0123"])
    }
}

/// The trait that runs a test in a scope.
@Suite(.inScope, .timeLimit(.ample))
struct InScopeTests {
    private let recorder = IntegrationRecorder<Int>()

    @Test func `the tasks of a test in a scope are not watched`() {
        #expect(LibraryTask.executor == nil)
    }

    @Test func `a failed expectation is an issue at its line`() {
        let line = #line + 2
        withKnownIssue {
            recorder.expectRecorded(.began)
        } matching: { issue in
            issue.sourceLocation?.line == line
        }
    }

    @Test func `unexpected events and running calls are issues of their lines`() async throws {
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
