import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A stub", .timeLimit(.ample))
struct StubDataProviderTests {
    @Test("answers every request with its value")
    func value() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, String>("a")
            let answers = [try await stub.request(1), try await stub.request(2)]
            #expect(answers == ["a", "a"])
            #expect(stub.requestCount == 2)
        }
    }

    @Test("fails every request with its error")
    func error() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, String>(failing: Trouble.first)
            await #expect(throws: Trouble.first) { try await stub.request(1) }
            await #expect(throws: Trouble.first) { try await stub.request(1) }
        }
    }

    @Test("answers with what its closure returns or throws")
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

    @Test("takes a closure for what computes its answers, also where the input is known from elsewhere")
    func closureInPlace() async throws {
        try await TestScope.run {
            let doubled = try await StubDataProvider { (input: Int) in input * 2 }.request(2)
            let again = try await StubDataProvider { @Sendable (input: Int) in input * 2 }.request(3)
            #expect([doubled, again] == [4, 6])
            let task = Integrator(StubDataProvider { (id: Int) in "user \(id)" }).prepareCall(1).call()
            #expect(await task.outcome == .success("user 1"))
        }
    }

    @Test("gives its answers in order")
    func sequence() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, String>(answers: [.success("a"), .failure(Trouble.first), .success("b")])
            let first = try await stub.request(1)
            await #expect(throws: Trouble.first) { try await stub.request(1) }
            let last = try await stub.request(1)
            #expect([first, last] == ["a", "b"])
        }
    }

    @Test("that is asked once too often fails where it was made, and ends the request with that failure")
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

    @Test("that isn't to be asked fails when it is")
    func unexpected() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let task = Integrator(StubDataProvider<Int, String>.unexpected()).prepareCall(1).call()
            #expect(await task.outcome.error is TestFailure)
        }
        #expect(failures.map(\.summary) == ["\(line): The stub expected no request, and request 1 came: 1"])
    }

    @Test("that isn't to be asked is content when it isn't")
    func neverAsked() async throws {
        try await TestScope.run { _ = StubDataProvider<Int, String>.unexpected() }
    }

    @Test("that nobody asked fails at the end of the scope")
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

    @Test("that has answers left fails at the end of the scope")
    func leftOver() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, String>(values: ["a", "b", "c"])
            _ = try await stub.request(1)
        }
        #expect(failures.map(\.summary) == ["\(line): The stub expected 3 requests, and 1 came."])
    }

    @Test("can be looked at before the end")
    func verify() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let stub = StubDataProvider<Int, String>(values: ["a"])
            stub.verify()
            _ = try await stub.request(1)
            stub.verify()
        }
        #expect(failures.map(\.message) == ["The stub expected 1 request, and none came."])
    }

    @Test("that has been looked at and wasn't used up is told of once")
    func once() async throws {
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, String>("a")
            stub.verify()
            stub.verify()
        }
        #expect(failures.map(\.message) == ["The stub expected a request, and none came."])
    }

    @Test("that is asked from many tasks gives each answer once")
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
