import IDMCore
@testable import IDMTesting
import TestSupport
import Testing

@Suite("A test scope", .timeLimit(.ample))
struct TestScopeTests {
    @Test("returns what its body returns")
    func value() async throws {
        #expect(try await TestScope.run { 1 } == 1)
    }

    @Test("throws on what its body throws")
    func error() async {
        await #expect(throws: Trouble.first) { try await TestScope.run { throw Trouble.first } }
    }

    @Test("throws what failed in it at its end, with the place and the message")
    func throwsFailures() async throws {
        let line = #line + 3
        func leaveAFailure() async throws {
            try await TestScope.run {
                let stub = StubDataProvider<Int, Int>.unexpected()
                _ = try? await stub.request(7)
            }
        }
        let thrown = await #expect(throws: TestFailures.self) { try await leaveAFailure() }
        let failure = try #require(thrown?.failures.first)
        #expect(thrown?.failures.count == 1)
        #expect(failure.summary == "\(line): The stub expected no request, and request 1 came: 7")
        #expect("\(failure.place.fileID)" == "IDMTestingTests/TestScopeTests.swift")
        #expect(thrown?.description == "IDMTestingTests/TestScopeTests.swift:\(line): \(failure.message)")
    }

    @Test("tells of what failed before its body threw, together with the error")
    func failuresAndError() async throws {
        let thrown = await #expect(throws: TestFailures.self) {
            try await TestScope.run {
                let stub = StubDataProvider<Int, Int>.unexpected()
                _ = try? await stub.request(7)
                throw Trouble.second
            }
        }
        #expect(thrown?.error as? Trouble == .second)
        #expect(thrown?.failures.count == 1)
    }

    @Test("asks nothing of what was left when its body threw")
    func leftoversOfThrowing() async throws {
        await #expect(throws: Trouble.first) {
            try await TestScope.run {
                _ = StubDataProvider<Int, Int>(1)
                throw Trouble.first
            }
        }
    }

    @Test("hands each failure to its handler as it happens, and throws nothing")
    func handler() async throws {
        let heard = Log()
        try await TestScope.run(reportingTo: { heard.add($0.message) }) {
            let stub = StubDataProvider<Int, Int>.unexpected()
            _ = try? await stub.request(1)
            #expect(heard.entries.count == 1)
        }
        #expect(heard.entries.count == 1)
    }

    @Test("hands on what fails in a detached task at its end, and where it is itself")
    func elsewhere() async throws {
        let heard = Log()
        try await Self.$isHere.withValue(true) {
            try await TestScope.run(reportingTo: { heard.add("\(Self.isHere) \($0.message)") }) {
                let stub = StubDataProvider<Int, Int>.unexpected()
                await Task.detached { _ = try? await stub.request(1) }.value
                #expect(heard.entries == [])
                // In a scope within it, it is in both.
                try await TestScope.run { _ = try? await stub.request(2) }
                #expect(heard.entries.count == 1)
            }
        }
        #expect(
            heard.entries == [
                "true The stub expected no request, and request 2 came: 2",
                "true The stub expected no request, and request 1 came: 1",
            ])
    }

    @TaskLocal private static var isHere = false

    @Test("has no other error to tell of than its failures where its body throws one of them")
    func throwsAFailure() async throws {
        let body = { @Sendable in
            let stub = StubDataProvider<Int, Int>.unexpected()
            _ = try await stub.request(1)
        }
        let thrown = await #expect(throws: TestFailures.self) { try await TestScope.run { try await body() } }
        #expect(thrown?.failures.count == 1)
        #expect(thrown?.error == nil)
        #expect(try await TestScope.failures { try await body() }.count == 1)
        await #expect(throws: Trouble.first) { try await TestScope.failures { throw Trouble.first } }
        // Also where a scope within throws it, besides failures of its own.
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, Int>.unexpected()
            try await TestScope.run {
                _ = try? await StubDataProvider<Int, Int>.unexpected().request(2)
                _ = try await stub.request(1)
            }
        }
        #expect(failures.map(\.message) == (1...2).map { "The stub expected no request, and request 1 came: \($0)" })
    }

    @Test("asks nothing of leftovers where it is told so")
    func leftoversAllowed() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) { _ = StubDataProvider<Int, Int>(1) }
        #expect(failures.isEmpty)
    }

    @Test("hears of what was made in it also from tasks that know nothing of it")
    func foreignTasks() async throws {
        let stub = Watched<StubDataProvider<Int, Int>?>(nil)
        let isMade = Watched(false)
        // Started outside of the scope, so it has no task-locals of it.
        let foreign = Task {
            try await isMade.wait { $0 }
            _ = try? await stub.value?.request(1)
        }
        let failures = try await TestScope.failures {
            stub.change { $0 = .unexpected() }
            isMade.change { $0 = true }
            try await foreign.value
        }
        #expect(failures.count == 1)
    }

    @Test("is alone with its failures, however many scopes run beside it")
    func parallel() async throws {
        let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for index in 0..<50 {
                group.addTask {
                    let failures = try await TestScope.failures {
                        let stub = StubDataProvider<Int, Int>.unexpected()
                        for _ in 0..<index { _ = try? await stub.request(index) }
                    }
                    #expect(failures.allSatisfy { $0.message.hasSuffix(" came: \(index)") })
                    return (index, failures.count)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.allSatisfy { $0.0 == $0.1 })
        #expect(counts.count == 50)
    }

    @Test("belongs to the innermost of scopes that lie in one another")
    func nested() async throws {
        let outer = try await TestScope.failures {
            let inner = try await TestScope.failures { _ = StubDataProvider<Int, Int>(1) }
            #expect(inner.count == 1)
        }
        #expect(outer.isEmpty)
    }

    @Test("in another one lets its clocks know of all that is started in it", arguments: [true, false])
    func nestedClocks(madeInside: Bool) async throws {
        for _ in 0..<20 {
            try await TestScope.run {
                let outer = ManualClock()
                try await TestScope.run {
                    let clock = madeInside ? ManualClock() : outer
                    let provider = Echo<Int>().delay(.seconds(1), clock: clock)
                    let log = Log()
                    // The integrator knows nothing of the clock.
                    let (first, second) = (Integrator(provider), Integrator(provider))
                    first.prepareCall(1).nextSuccess(second.prepareCall(2).onSuccess { log.add("\($0)") }).call()
                    await clock.advance(by: .seconds(2))
                    try #require(log.entries == ["2"])
                }
            }
        }
    }

    @Test("runs a body that doesn't suspend")
    func synchronous() throws {
        #expect(throws: TestFailures.self) { try Self.leaveAStub() }
    }

    private static func leaveAStub() throws {
        try TestScope.run { _ = StubDataProvider<Int, Int>(1) }
    }

    @Test("returns what failed in it, also what a scope within it throws, and throws on what that threw besides")
    func failuresOfAScopeWithin() async throws {
        let failures = try await TestScope.failures {
            _ = try? await StubDataProvider<Int, Int>.unexpected().request(1)
            try await TestScope.run {
                _ = try? await StubDataProvider<Int, Int>.unexpected().request(2)
                try await TestScope.run { _ = try? await StubDataProvider<Int, Int>.unexpected().request(3) }
            }
        }
        #expect(failures.map(\.message) == (1...3).map { "The stub expected no request, and request 1 came: \($0)" })
        let thrown = await #expect(throws: TestFailures.self) {
            try await TestScope.failures {
                try await TestScope.run {
                    _ = try? await StubDataProvider<Int, Int>.unexpected().request(2)
                    throw Trouble.first
                }
            }
        }
        #expect(thrown?.error as? Trouble == .first && thrown?.failures.count == 1)
        let both = await #expect(throws: TestFailures.self) {
            try await TestScope.failures {
                _ = try? await StubDataProvider<Int, Int>.unexpected().request(1)
                throw Trouble.first
            }
        }
        #expect(both?.error as? Trouble == .first && both?.failures.count == 1)
        await #expect(throws: Trouble.first) { try await TestScope.failures { throw Trouble.first } }
    }

    @Test("holds its handler no longer than it runs")
    func handlerAfterTheEnd() async throws {
        let failures = try await TestScope.failures {
            let tracker = LeakTracker()
            let made = try await TestScope.run(
                reportingTo: { [held = tracker.track(Canary {})] _ in withExtendedLifetime(held) {} }
            ) {
                try await TestScope.run { ControlledDataProvider<Int, Int>() }
            }
            tracker.verify()
            withExtendedLifetime(made) {}
        }
        #expect(failures.isEmpty)
    }

    @Test("stays on the caller's actor")
    @MainActor
    func isolation() async throws {
        try await TestScope.run { MainActor.preconditionIsolated() }
    }

    @Test("keeps the synchronous delivery of the calls that are made in it")
    @MainActor
    func synchrony() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        try await TestScope.run {
            let log = Log()
            Integrator(Echo<Int>()).prepareCall(1)
                .onBeginning { log.add("begin") }.onSuccess { log.add("\($0)") }.onCompletion { log.add("end") }.call()
            #expect(log.entries == ["begin", "1", "end"])
        }
    }

    @Test("holds nothing of what a task makes that outlives it")
    func madeAfterTheEnd() async throws {
        let (gate, gone) = (TestGate(), Signal())
        let task = try await TestScope.run {
            Task {
                try await gate.pass()
                let canary = Canary { gone.open() }
                let stub = StubDataProvider { (input: Int) in withExtendedLifetime(canary) { input } }
                _ = StubDataProvider { (_: Int) in withExtendedLifetime(stub) { 0 } }
            }
        }
        gate.open()
        try await task.value
        #expect(gone.isOpen)
    }

    @Test("holds nothing of what is made in it as it goes, with what was looked at last")
    func madeAtTheEnd() async throws {
        let gone = Signal()
        try await TestScope.run(failingOnLeftovers: false) {
            let last = Canary { [scope = TestScope.current] in
                TestScope.$current.withValue(scope) {
                    let canary = Canary { gone.open() }
                    _ = StubDataProvider { (_: Int) in withExtendedLifetime(canary) { 0 } }
                }
            }
            _ = StubDataProvider { (_: Int) in withExtendedLifetime(last) { 0 } }
        }
        #expect(gone.isOpen)
    }

    /// A stub, and where it is made: in a body that a macro takes, code has the place of the macro.
    private static func unexpected() -> (stub: StubDataProvider<Int, Int>, line: Int) {
        (.unexpected(), #line)
    }

    @Test("A failure outside of every scope fails the process, if nobody is there to hear it")
    func lastResort() async throws {
        let observed: [any PartialKeyPath<ExitTest.Result> & Sendable] = [
            \.standardErrorContent, \.standardOutputContent,
        ]
        let result = await #expect(processExitsWith: .exitCode(EXIT_FAILURE), observing: observed) {
            print("printed before")
            _ = try? await Self.unexpected().stub.request(1)
            exit(EXIT_SUCCESS)
        }
        let line = Self.unexpected().line
        let told = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            told.contains(
                "IDMTestingTests/TestScopeTests.swift:\(line): error: "
                    + "The stub expected no request, and request 1 came: 1\n"))
        #expect(told.contains("A failure outside of every TestScope, with no handler to report it to"))
        // Also what waited in a buffer.
        #expect(String(decoding: try #require(result).standardOutputContent, as: UTF8.self).contains("printed before"))
    }

    @Test("A failure outside of every scope fails the process again when the handler has been taken away")
    func handlerTakenAway() async throws {
        await #expect(processExitsWith: .exitCode(EXIT_FAILURE)) {
            TestScope.report { _ in exit(7) }
            TestScope.report(to: nil)
            _ = try? await StubDataProvider<Int, Int>.unexpected().request(1)
            exit(EXIT_SUCCESS)
        }
    }

    @Test("A failure outside of every scope goes to the handler that was set")
    func outsideHandler() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            TestScope.report { failure in
                if failure.message == "The stub expected no request, and request 1 came: 1" { exit(7) }
            }
            let stub = StubDataProvider<Int, Int>.unexpected()
            _ = try? await stub.request(1)
        }
    }

    @Test("A handler that makes way for another one may set one itself as it goes")
    func handlerInPlaceOfAnother() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            TestScope.report { [farewell = Canary { TestScope.report { _ in exit(7) } }] _ in
                withExtendedLifetime(farewell) {}
                exit(8)
            }
            TestScope.report { _ in exit(9) }
            _ = try? await StubDataProvider<Int, Int>.unexpected().request(1)
        }
    }

    @Test("A failure after the end of its scope goes outside")
    func late() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            TestScope.report { _ in exit(7) }
            let stub = Watched<StubDataProvider<Int, Int>?>(nil)
            try? await explore(seeds: [1]) { _ in
                stub.change { $0 = .unexpected() }
                throw Trouble.first
            }
            _ = try? await stub.value?.request(1)
        }
        await #expect(processExitsWith: .exitCode(7)) {
            TestScope.report { _ in exit(7) }
            let stub = try await TestScope.run(failingOnLeftovers: false) { StubDataProvider<Int, Int>.unexpected() }
            _ = try? await stub.request(1)
        }
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
