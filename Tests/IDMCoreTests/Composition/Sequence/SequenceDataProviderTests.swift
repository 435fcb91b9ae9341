import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct SequenceDataProviderTests {
    struct Rethrowing: DataModel {
        init(from source: Int) throws {
            switch source {
            case 0: throw Trouble.first
            case 1: throw IntegrationError.model(Trouble.second)
            case 2: throw IntegrationError.cancelled(.superseded)
            default: throw CancellationError()
            }
        }
    }

    @Test(arguments: [ModelParsing.concurrent, .inline])
    func `a model's error is wrapped once, and a cancellation never`(parsing: ModelParsing) async throws {
        let provider = Echo<Int>().model(Rethrowing.self, parsing: parsing)
        var errors: [String] = []

        for source in 0...3 {
            do { _ = try await provider.request(source) } catch { errors.append("\(error)") }
        }

        #expect(
            errors == [
                "\(IntegrationError.model(Trouble.first))", "\(IntegrationError.model(Trouble.second))",
                "\(IntegrationError.cancelled(.superseded))", "\(CancellationError())",
            ])
    }

    @Test func `a hundred nested sequences hold no thread while they wait`() async throws {
        let gate = ControlledDataProvider<Int, Int>()
        var provider = gate.eraseToAnyDataProvider()
        for _ in 0..<100 { provider = (provider >>>> ClosureDataProvider { $0 + 1 }).eraseToAnyDataProvider() }
        let deep = provider
        // More requests than there are threads.
        let tasks = (0..<200).map { _ in Task { try await deep.request(0) } }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in tasks { requests.append(try await gate.waitForRequest()) }

        let unrelated = try await Task { try await (Doubler() >>>> Doubler()).request(1) }.value
        for request in requests { request.answer(0) }
        var answers = [unrelated]
        for task in tasks { answers.append(try await task.value) }

        #expect(answers == [4] + Array(repeating: 100, count: 200))
    }

    @Test func `a chain of a hundred thousand erased providers is released without recursion`() async throws {
        var provider = AnyDataProvider(Doubler())
        for _ in 0..<100_000 { provider = AnyDataProvider(provider.map { $0 }) }

        provider = AnyDataProvider(Doubler())

        #expect(try await provider.request(1) == 2)
    }
}
