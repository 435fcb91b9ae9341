import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A stub", .timeLimit(.ample))
struct StubDataProviderTests {
    @Test("A stub answers every request with its value")
    func value() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, String>("a")
            let answers = [try await stub.request(1), try await stub.request(2)]
            #expect(answers == ["a", "a"])
            #expect(stub.requestCount == 2)
        }
    }

    @Test("A stub fails every request with its error")
    func error() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, String>(failing: Trouble.first)
            await #expect(throws: Trouble.first) { try await stub.request(1) }
            await #expect(throws: Trouble.first) { try await stub.request(1) }
        }
    }

    @Test("A stub answers with the result of its closure")
    func closure() async throws {
        try await TestScope.run {
            let stub = StubDataProvider { (input: Int) in
                if input < 0 { throw Trouble.first }
                return input * 2
            }
            let doubled = try await stub.request(2)
            #expect(doubled == 4)
            await #expect(throws: Trouble.first) { try await stub.request(-1) }
        }
    }

    @Test("A closure computes the answers of a stub with inferred types")
    func closureInPlace() async throws {
        try await TestScope.run {
            let doubled = try await StubDataProvider { (input: Int) in input * 2 }.request(2)
            let again = try await StubDataProvider { @Sendable (input: Int) in input * 2 }.request(3)
            #expect([doubled, again] == [4, 6])
            let task = Integrator(StubDataProvider { (id: Int) in "user \(id)" }).prepareCall(1).call()
            #expect(await task.outcome == .success("user 1"))
        }
    }

    @Test("A stub gives its answers in order")
    func sequence() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, String>(answers: [.success("a"), .failure(Trouble.first), .success("b")])
            let first = try await stub.request(1)
            await #expect(throws: Trouble.first) { try await stub.request(1) }
            let last = try await stub.request(1)
            #expect([first, last] == ["a", "b"])
        }
    }

    @Test("A request too many fails at the line of the stub")
    func exhausted() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, String>(values: ["a", "b"])
            _ = try await stub.request(1)
            _ = try await stub.request(2)
            await #expect(throws: TestFailure.self) { try await stub.request(3) }
        }
        #expect(
            failures.map(\.summary) == ["\(line): The stub expected no more than 2 requests, and request 3 came: 3"])
    }

    @Test("A stub without answers fails when it is asked")
    func unexpected() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let task = Integrator(StubDataProvider<Int, String>.unexpected()).prepareCall(1).call()
            #expect(await task.outcome.error is TestFailure)
        }
        #expect(failures.map(\.summary) == ["\(line): The stub expected no request, and request 1 came: 1"])
    }

    @Test("A stub without answers passes when it isn't asked")
    func neverAsked() async throws {
        try await TestScope.run { _ = StubDataProvider<Int, String>.unexpected() }
    }

    @Test("An unused stub fails at the end of the scope")
    func unused() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            _ = StubDataProvider<Int, String>("a")
            _ = StubDataProvider { (input: Int) in input }
            _ = StubDataProvider<Int, String>(failing: Trouble.first)
            _ = StubDataProvider<Int, String>(answers: [.success("a"), .failure(Trouble.first)])
        }
        #expect(
            failures.map(\.summary) == [
                "\(line): The stub expected a request, and none came.",
                "\(line + 1): The stub expected a request, and none came.",
                "\(line + 2): The stub expected a request, and none came.",
                "\(line + 3): The stub expected 2 requests, and none came.",
            ])
    }

    @Test("A stub with answers left fails at the end of the scope")
    func leftOver() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, String>(values: ["a", "b", "c"])
            _ = try await stub.request(1)
        }
        #expect(failures.map(\.summary) == ["\(line): The stub expected 3 requests, and 1 came."])
    }

    @Test("Verify reports an unused stub before the end")
    func verify() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let stub = StubDataProvider<Int, String>(values: ["a"])
            stub.verify()
            _ = try await stub.request(1)
            stub.verify()
        }
        #expect(failures.map(\.message) == ["The stub expected 1 request, and none came."])
    }

    @Test("An unused stub is reported once")
    func once() async throws {
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, String>("a")
            stub.verify()
            stub.verify()
        }
        #expect(failures.map(\.message) == ["The stub expected a request, and none came."])
    }

    @Test("A stub gives each answer once to many tasks")
    func concurrent() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, Int>(values: Array(0..<200))
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<200 { group.addTask { try await stub.request(index) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(answers == Set(0..<200))
        }
    }
}
