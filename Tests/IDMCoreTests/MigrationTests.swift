import IDMCore
import TestSupport
import Testing

/// The names of 1.x and 2.x. The tests are deprecated themselves, so that using the names gives no warning.
@Suite("Coming from 1.x and 2.x", .timeLimit(.ample))
struct MigrationTests {
    private protocol Deprecated: Sendable {
        func names() async throws
    }

    private struct Uses: Deprecated {
        @available(*, deprecated)
        func names() async throws {
            struct Old: DataProviderProtocol {
                func request(
                    _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
                ) -> CancelHandler? {
                    completion(.success(input))
                    return nil
                }
            }
            struct Number: ModelProtocol, Equatable {
                let number: Int
                init(from source: Int) throws { number = source }
            }
            let magical = MagicalIntegrator(dataProvider: Old(), modelType: Number.self, executingType: .lastest)
            #expect(try await magical.prepareCall(parameters: 7).call().value.number == 7)
            let plain = MagicalIntegrator(dataProvider: Old(), modelType: Number.self)
            #expect(try await plain.request(7).number == 7)
            let amazing = AmazingIntegrator(dataProvider: Old(), executingType: .only)
            #expect(try await amazing.prepareCall(parameters: 8).call().value == 8)
            #expect(try await AmazingIntegrator(dataProvider: Old()).request(9) == 9)
            #expect(ExecutingType.lastest == .latest)

            let log = Log()
            let doubled = Integrator(ClosureDataProvider<Int, Int> { $0 * 2 })
            await amazing.prepareCall(parameters: 4).fowardSuccess(to: doubled) { $0.onSuccess { log.add("\($0)") } }
                .call().finish()
            let reports = Integrator(ClosureDataProvider<any Error, String> { "\($0)" })
            await Integrator(Failing(Trouble.first)).prepareCall(1)
                .fowardError(to: reports) { $0.onSuccess { log.add($0) } }
                .call().finish()
            #expect(log.entries == ["8", "first"])
        }
    }

    @Test("The old names keep compiling, and do what the new ones do")
    func oldNames() async throws {
        let uses: any Deprecated = Uses()
        try await uses.names()
    }
}
