import IDMCore
import IDMTesting
import Testing

@Suite("The contract of providers", .timeLimit(.minutes(1)))
struct DataProviderContractTests {
    /// For providers that are waited for in vain. What they do keep, they keep at once.
    private let short = DataProviderContract.Patience(request: .milliseconds(500))

    private func broken<P: DataProvider<Int, Int>>(
        _ patience: DataProviderContract.Patience = .init(), _ make: @escaping @Sendable () -> P
    ) async throws -> Set<DataProviderContract.Rule> {
        let rules = Watched<Set<DataProviderContract.Rule>>([])
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let breaches = try await DataProviderContract.check(input: 1, patience: patience, make)
            rules.change { $0 = Set(breaches.map(\.rule)) }
        }
        #expect(failures.count == rules.value.count)
        for rule in rules.value { #expect(failures.contains { $0.message.contains("\(rule): ") }) }
        return rules.value
    }

    @Test("is kept by the providers of the library")
    func library() async throws {
        #expect(try await broken { Echo<Int>() } == [])
        #expect(try await broken { ValueDataProvider<Int, Int>(1) } == [])
        #expect(try await broken { ClosureDataProvider { (input: Int) in input } } == [])
        #expect(try await broken { Echo<Int>().delay(.milliseconds(1)).timeout(.seconds(5)).retry(2) } == [])
        #expect(try await broken { Integrator(Echo<Int>()) } == [])
        #expect(try await broken { Echo<Int>().coalesced(by: { $0 }) } == [])
        #expect(try await broken { Calling(times: 1) } == [])
        #expect(try await broken { Echo<Int>() >>>> Echo<Int>() } == [])
    }

    @Test("is broken by a provider that never answers")
    func silent() async throws {
        #expect(
            try await broken(short) { ControlledDataProvider<Int, Int>() } == [.answersOnce, .takesConcurrentRequests])
    }

    @Test("is broken by a provider that doesn't hear a cancel")
    func deaf() async throws {
        let found = try await broken(short) { ControlledDataProvider<Int, Int>(hearsCancel: false) }
        #expect(found == [.answersOnce, .hearsCancel, .takesConcurrentRequests])
    }

    @Test("is broken by a provider that answers after its cancel")
    func answersAfterCancel() async throws {
        let found = try await broken(short) { Late() }
        #expect(found == [.answersOnce, .answersNothingAfterCancel, .takesConcurrentRequests])
    }

    @Test("is broken by a callback provider that calls back twice")
    func twice() async throws {
        #expect(try await broken { Calling(times: 2) } == [.answersOnce])
    }

    @Test("is broken by a provider that lets only one request through")
    func exclusive() async throws {
        #expect(try await broken(short) { Exclusive() } == [.takesConcurrentRequests])
    }

    @Test("is broken by a provider that is held after use")
    func held() async throws {
        #expect(try await broken { Clinging() } == [.isReleased])
        Clinging.all.change { $0 = [] }
    }

    @Test("looks only at the rules that it is given, and points at the line of the check")
    func place() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            try await DataProviderContract.check(input: 1, patience: short, rules: [.answersOnce]) {
                ControlledDataProvider<Int, Int>()
            }
        }
        #expect(failures.map(\.place.line) == [line])
        #expect(failures.first?.message.hasPrefix("ControlledDataProvider<Int, Int> breaks the contract") == true)
    }

    private struct Calling: CallbackDataProvider {
        let times: Int

        func request(
            _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
        ) -> CancelHandler? {
            for _ in 0..<times { completion(.success(input)) }
            return nil
        }
    }

    /// Waits for its cancel, and then answers all the same.
    private struct Late: DataProvider {
        func request(_ input: Int) async throws -> Int {
            try? await Watched(false).wait { $0 }
            return input
        }
    }

    private final class Exclusive: DataProvider {
        private let count = Watched(0)

        func request(_ input: Int) async throws -> Int {
            guard
                count.change({
                    $0 += 1; return $0
                }) == 1
            else {
                try await Watched(false).wait { $0 }
                return input
            }
            return input
        }
    }

    private final class Clinging: DataProvider {
        static let all = Watched<[Clinging]>([])

        func request(_ input: Int) async throws -> Int {
            Self.all.change { $0.append(self) }
            return input
        }
    }
}
