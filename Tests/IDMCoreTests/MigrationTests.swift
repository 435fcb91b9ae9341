import IDMCore
import TestSupport
import Testing

/// Code for IDMCore 1.x and 2.x, in Swift 6 mode. The target MigrationTests compiles the same shapes in
/// Swift 5 mode. The uses are deprecated themselves, so that they give no warnings.
@Suite("Coming from IDMCore 1.x and 2.x", .timeLimit(.ample))
struct MigrationTests {
    private protocol Deprecated: Sendable {
        func oldProviders(_ log: Log) async
        func readme(_ log: Log) async
        func newTypes() async throws -> [Int]
        func chains(_ log: Log) async
        func cancel() async -> IntegrationOutcome<Int?>
    }

    @available(*, deprecated)
    struct Search: DataProviderProtocol {
        func request(parameters: String?, completion: ((Bool, [String]?, (any Error)?) -> ())?) -> (() -> ())? {
            switch parameters {
            case "fails": completion?(false, nil, Trouble.first)
            case "cancelled": completion?(false, nil, nil)
            case "nothing": completion?(true, nil, nil)
            case "drops": break
            default:
                completion?(true, [parameters ?? "default"], nil)
                completion?(true, ["too late"], nil)
            }
            return {}
        }
    }

    @available(*, deprecated)
    struct Length: DataProviderProtocol {
        @discardableResult
        func request(parameters: [String]?, completion: @escaping (Bool, Int?, (any Error)?) -> Void) -> CancelHandler?
        {
            completion(true, parameters?.first?.count, nil)
            return nil
        }
    }

    /// Answers when it is cancelled, which is too late.
    @available(*, deprecated)
    struct Hanging: DataProviderProtocol {
        let started: Signal
        let stopped: Signal

        func request(parameters: Int?, completion: @escaping (Bool, Int?, (any Error)?) -> Void) -> (() -> Void)? {
            started.open()
            return {
                stopped.open()
                completion(true, 1, nil)
            }
        }
    }

    @available(*, deprecated)
    struct Users: ModelProtocol {
        var items: [String]?

        init(from data: [String]?) {
            items = data
        }
    }

    @available(*, deprecated)
    struct Strict: ModelProtocol {
        let name: String
        var invalidDataError: (any Error)? { name == "invalid" ? Trouble.second : nil }

        init?(from data: [String]?) {
            guard let name = data?.first else { return nil }
            self.name = name
        }
    }

    private struct Uses: Deprecated {
        @available(*, deprecated)
        func oldProviders(_ log: Log) async {
            let integrator = AmazingIntegrator(dataProvider: Search(), executingType: .lastest)
            for parameters in ["apple", nil, "nothing", "fails", "cancelled", "drops"] {
                log.add("\(await integrator.prepareCall(parameters: parameters).call().outcome)")
            }
            let strict = MagicalIntegrator(dataProvider: Search(), modelType: Strict.self)
            for parameters in ["apple", "nothing", "invalid"] {
                let outcome = await strict.prepareCall(parameters: parameters).call().outcome
                log.add("\((outcome.value as? Strict)?.name ?? outcome.error.map { "\($0)" } ?? "nil")")
            }
            let sequence = AmazingIntegrator(dataProvider: Search() >>>> Length())
            log.add("\(await sequence.prepareCall(parameters: "apple").call().outcome)")
            let group = AmazingIntegrator(dataProvider: Search() >><< Length())
            log.add("\(await group.prepareCall(parameters: ("apple", ["pear"])).call().outcome)")
        }

        /// The shape of the old README's screen, and of its cache that is read before the server.
        @available(*, deprecated)
        @MainActor
        func readme(_ log: Log) async {
            let cache = MagicalIntegrator(dataProvider: Search(), modelType: Users.self)
            let server = MagicalIntegrator(dataProvider: Search(), modelType: Users.self, executingType: .queue)
            await cache
                .prepareCall()
                .onBeginning({ log.add("loading") })
                .onSuccess({ (users) in log.add(users?.items?.first ?? "nobody") })
                .onError({ (error) in log.add("Error: \(error)") })
                .onCompletion({ log.add("loaded") })
                .thenRecall(with: server)
                .call()
                .finish()
            await cache.prepareCall(parameters: "apple").onSuccess { log.add($0?.items?.first ?? "nobody") }
                .thenRecall(with: server, parameters: "pear").call().finish()
        }

        @available(*, deprecated)
        func newTypes() async throws -> [Int] {
            struct Number: DataModel {
                let number: Int
                init(from source: Int) throws { number = source }
            }
            let magical = MagicalIntegrator(dataProvider: Echo<Int>(), modelType: Number.self, executingType: .only)
            let amazing = AmazingIntegrator(dataProvider: Echo<Int>())
            return [try await magical.request(7).number, try await amazing.prepareCall(parameters: 8).call().value]
        }

        @available(*, deprecated)
        func chains(_ log: Log) async {
            let doubled = Integrator(ClosureDataProvider<Int, Int> { $0 * 2 })
            await Integrator(Echo<Int>()).prepareCall(4)
                .fowardSuccess(to: doubled) { $0.onSuccess { log.add("\($0)") } }.call().finish()
            let reports = Integrator(ClosureDataProvider<any Error, String> { "\($0)" })
            await Integrator(Failing(Trouble.first)).prepareCall(1)
                .fowardError(to: reports) { $0.onSuccess { log.add($0) } }.call().finish()
        }

        @available(*, deprecated)
        func cancel() async -> IntegrationOutcome<Int?> {
            let (started, stopped) = (Signal(), Signal())
            let task = AmazingIntegrator(dataProvider: Hanging(started: started, stopped: stopped))
                .prepareCall(parameters: 1).call()
            await started.waitIgnoringCancel()
            task.cancel()
            await stopped.waitIgnoringCancel()
            return await task.outcome
        }
    }

    private let uses: any Deprecated = Uses()
    private let log = Log()

    @Test("An old provider is a data provider, under old names and in compositions")
    func oldProviders() async {
        await uses.oldProviders(log)

        #expect(
            log.entries == [
                #"success(Optional(["apple"]))"#, #"success(Optional(["default"]))"#, "success(nil)",
                "failure(IDMCoreTests.Trouble.first)", "cancelled(IDMCore.CancelReason.cancelled)",
                "failure(The provider ended without an answer.)", "apple",
                "The model could not be made from the data: Strict.init?(from:) returned nil",
                "The model could not be made from the data: second", "success(Optional(5))",
                #"success(Optional(["apple"]), Optional(4))"#,
            ])
    }

    @Test("Old calls pass optional values to their handlers, cached and remote")
    func readme() async {
        await uses.readme(log)

        #expect(log.entries == ["loading", "default", "loaded", "loading", "default", "loaded", "apple", "pear"])
    }

    @Test("Old names work for new providers, models and chains")
    func newTypes() async throws {
        #expect(try await uses.newTypes() == [7, 8])
        await uses.chains(log)

        #expect(log.entries == ["8", "first"])
    }

    @Test("A cancel calls the old cancel closure, and a late answer is dropped")
    func cancel() async {
        #expect(await uses.cancel() == .cancelled(.cancelled))
    }
}
