import IDMCore
@testable import IDMTesting
import TestSupport
import Testing

@Suite("A test scope", .timeLimit(.ample))
struct TestScopeTests {
    @Test("A scope without a handler throws its failures with their places")
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

    @Test("Failures and the error of the body are thrown together")
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

    @Test("A scope whose body throws has no end checks")
    func leftoversOfThrowing() async throws {
        await #expect(throws: Trouble.first) {
            try await TestScope.run {
                _ = StubDataProvider<Int, Int>(1)
                throw Trouble.first
            }
        }
    }

    @Test("A handler receives each failure at once, and the scope throws nothing")
    func handler() async throws {
        let received = Log()
        try await TestScope.run(reportingTo: { received.add($0.message) }) {
            let stub = StubDataProvider<Int, Int>.unexpected()
            _ = try? await stub.request(1)
            #expect(received.entries.count == 1)
        }
        #expect(received.entries.count == 1)
    }

    @Test("A failure of a detached task reaches the handler at the end of the scope")
    func elsewhere() async throws {
        let received = Log()
        try await Self.$isHere.withValue(true) {
            try await TestScope.run(reportingTo: { received.add("\(Self.isHere) \($0.message)") }) {
                let stub = StubDataProvider<Int, Int>.unexpected()
                await Task.detached { _ = try? await stub.request(1) }.value
                #expect(received.entries == [])
                // In a scope within it, it is in both.
                try await TestScope.run { _ = try? await stub.request(2) }
                #expect(received.entries.count == 1)
            }
        }
        #expect(
            received.entries == [
                "true The stub expected no request, and request 2 came: 2",
                "true The stub expected no request, and request 1 came: 1",
            ])
    }

    @TaskLocal private static var isHere = false

    @Test("A scope that ignores leftovers has no end checks")
    func leftoversAllowed() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) { _ = StubDataProvider<Int, Int>(1) }
        #expect(failures.isEmpty)
    }

    @Test("An object reports to its scope from a task started outside")
    func foreignTasks() async throws {
        let stub = Observed<StubDataProvider<Int, Int>?>(nil)
        let isMade = Observed(false)
        // Started outside of the scope, without its task-locals.
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

    @Test("An object belongs to the innermost scope")
    func nested() async throws {
        let outer = try await TestScope.failures {
            let inner = try await TestScope.failures { _ = StubDataProvider<Int, Int>(1) }
            #expect(inner.count == 1)
        }
        #expect(outer.isEmpty)
    }

    @Test("A clock of nested scopes tracks the calls of both", arguments: [true, false])
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

    @Test("A synchronous scope runs its end checks")
    func synchronous() throws {
        #expect(throws: TestFailures.self) { try Self.leaveAStub() }
    }

    private static func leaveAStub() throws {
        try TestScope.run { _ = StubDataProvider<Int, Int>(1) }
    }

    @Test("A failure that the body throws as well is reported once")
    func thrownFailure() async throws {
        let body = { @Sendable in _ = try await StubDataProvider<Int, Int>.unexpected().request(1) }
        let thrown = await #expect(throws: TestFailures.self) { try await TestScope.run { try await body() } }

        #expect(thrown?.failures.count == 1 && thrown?.error == nil)
        #expect(try await TestScope.failures { try await body() }.count == 1)
    }

    @Test("TestScope.failures returns nested failures, and rethrows errors")
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

    @Test("A handler is released at the end of its scope")
    func handlerAfterTheEnd() async throws {
        let failures = try await TestScope.failures {
            let tracker = LeakTracker()
            let made = try await TestScope.run(
                reportingTo: { [held = tracker.track(DeinitObserver {})] _ in withExtendedLifetime(held) {} }
            ) {
                try await TestScope.run { ControlledDataProvider<Int, Int>() }
            }
            tracker.verify()
            withExtendedLifetime(made) {}
        }
        #expect(failures.isEmpty)
    }

    @Test("A body runs on the caller's actor")
    @MainActor
    func isolation() async throws {
        try await TestScope.run { MainActor.preconditionIsolated() }
    }

    @Test("Calls in a scope are delivered synchronously")
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

    @Test("A scope that has ended retains no later object")
    func madeAfterTheEnd() async throws {
        let (gate, gone) = (TestGate(), Signal())
        let task = try await TestScope.run {
            Task {
                try await gate.pass()
                let canary = DeinitObserver { gone.open() }
                let stub = StubDataProvider { (input: Int) in withExtendedLifetime(canary) { input } }
                _ = StubDataProvider { (_: Int) in withExtendedLifetime(stub) { 0 } }
            }
        }
        gate.open()
        try await task.value
        #expect(gone.isOpen)
    }

    /// Makes a stub and returns its line. In a body that a macro takes, code has the line of the macro.
    private static func unexpected() -> (stub: StubDataProvider<Int, Int>, line: Int) {
        (.unexpected(), #line)
    }

    @Test("A failure without scope and handler fails the process")
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
        let printed = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            printed.contains(
                "IDMTestingTests/TestScopeTests.swift:\(line): error: "
                    + "The stub expected no request, and request 1 came: 1\n"))
        #expect(printed.contains("A failure outside of every TestScope, with no handler to report it to"))
        // Buffered output as well.
        #expect(String(decoding: try #require(result).standardOutputContent, as: UTF8.self).contains("printed before"))
    }

    @Test("A failure outside of scopes reaches the global handler")
    func outsideHandler() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            TestScope.report { failure in
                if failure.message == "The stub expected no request, and request 1 came: 1" { exit(7) }
            }
            let stub = StubDataProvider<Int, Int>.unexpected()
            _ = try? await stub.request(1)
        }
    }

    @Test("A global handler may set a handler when it is released")
    func handlerInPlaceOfAnother() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            TestScope.report { [farewell = DeinitObserver { TestScope.report { _ in exit(7) } }] _ in
                withExtendedLifetime(farewell) {}
                exit(8)
            }
            TestScope.report { _ in exit(9) }
            _ = try? await StubDataProvider<Int, Int>.unexpected().request(1)
        }
    }

    @Test("A failure after the end of its scope reaches the global handler")
    func late() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            TestScope.report { _ in exit(7) }
            let stub = Observed<StubDataProvider<Int, Int>?>(nil)
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
