import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("A sequence", .timeLimit(.ample))
struct SequenceDataProviderTests {
    @Test("gives the output of each stage to the next")
    func order() async throws {
        let sequence = Doubler() >>>> ClosureDataProvider { "\($0 + 1)" } >>>> { $0 + "!" }
        #expect(try await sequence.request(4) == "9!")
    }

    @Test("ends with the first failure, and asks nobody behind it")
    func failure() async throws {
        let behind = FailingAtFirst(0)
        let sequence = Doubler() >>>> Failing(Trouble.first) >>>> behind
        await #expect(throws: Trouble.first) { try await sequence.request(1) }
        #expect(behind.count == 0)
    }

    @Test("makes a model, and wraps its error once")
    func model() async throws {
        let sequence = Doubler() >>>> Text.self
        #expect(try await sequence.request(2) == Text(from: 4))
        let error = await #expect(throws: IntegrationError.self) { try await sequence.request(-1) }
        guard case .model(Trouble.second) = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
    }

    struct Rethrowing: DataModel {
        init(from source: Int) throws {
            switch source {
            case 0: throw CancellationError()
            case 1: throw IntegrationError.cancelled(.superseded)
            default: throw IntegrationError.model(Trouble.numbered(3))
            }
        }
    }

    @Test(
        "neither wraps a model's error twice nor hides a cancellation", arguments: [ModelParsing.concurrent, .inline])
    func modelErrors(parsing: ModelParsing) async throws {
        let provider = ValueDataProvider<Int, Int>(0).model(Rethrowing.self, parsing: parsing)
        await #expect(throws: CancellationError.self) { try await provider.request(0) }
        let other = ClosureDataProvider { (number: Int) in number }.model(Rethrowing.self, parsing: parsing)
        let cancelled = await #expect(throws: IntegrationError.self) { try await other.request(1) }
        guard case .cancelled(.superseded) = cancelled else {
            Issue.record("unexpected \(String(describing: cancelled))")
            return
        }
        let inner = await #expect(throws: IntegrationError.self) { try await other.request(2) }
        guard case .model(Trouble.numbered(3)) = inner else {
            Issue.record("unexpected \(String(describing: inner))")
            return
        }
    }

    @Test("makes models off the caller's actor, or inline when told to")
    @MainActor
    func parsing() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        #expect(
            try await endsWithoutSuspension { _ = try await Doubler().model(Text.self, parsing: .inline).request(1) })
        #expect(try await !endsWithoutSuspension { _ = try await Doubler().model(Text.self).request(1) })
    }

    @Test("delivers each value of a stream on its left, in order")
    func streamFirst() async {
        let sequence = Listed(1, 2, 3) >>>> Doubler()
        #expect(sequence.deliversMany)
        #expect(await collect(sequence, 0).values == [2, 4, 6])
    }

    @Test("delivers each value of a stream on its right")
    func streamSecond() async {
        let sequence = Doubler() >>>> Listed(1, 2)
        #expect(sequence.deliversMany)
        #expect(await collect(sequence, 10).values == [21, 22])
    }

    @Test("of two streams delivers each value of the second for each of the first")
    func twoStreams() async throws {
        let sequence = Listed(10, 20) >>>> Listed(1, 2)
        #expect(await collect(sequence, 0).values == [11, 12, 21, 22])
        #expect(try await sequence.request(0) == 22)
    }

    @Test("of single providers delivers one value, and says so")
    func single() async {
        let sequence = Doubler() >>>> Doubler()
        #expect(!sequence.deliversMany)
        #expect(await collect(sequence, 1).values == [4])
    }

    @Test("asked for one value, sends only the last one of a stream through the next stage")
    func lastOnly() async throws {
        let behind = FailingAtFirst(0)
        #expect(try await (Listed(1, 2, 3) >>>> behind).request(0) == 3)
        #expect(behind.count == 1)
    }

    @Test("delivers the values before a failure, then the failure")
    func streamFailure() async {
        let result = await collect(Listed(1, error: Trouble.first) >>>> Doubler(), 0)
        #expect(result.values == [2])
        #expect(result.error as? Trouble == .first)
    }

    @Test("cancels the stage that runs, and asks nobody behind it")
    func cancel() async throws {
        let running = ControlledDataProvider<Int, Int>()
        let behind = FailingAtFirst(0)
        let sequence = Doubler() >>>> running >>>> behind
        let task = Task { try await sequence.request(1) }
        let request = try await running.nextRequest()
        #expect(request.input == 2)
        task.cancel()
        try await request.cancelled()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(behind.count == 0)
    }

    @Test("of depth 100 holds no thread while it waits, and unrelated work goes on")
    func depth() async throws {
        let gate = ControlledDataProvider<Int, Int>()
        var provider = gate.eraseToAnyDataProvider()
        for _ in 0..<100 { provider = (provider >>>> ClosureDataProvider { $0 + 1 }).eraseToAnyDataProvider() }
        let deep = provider
        // Far more requests in flight than there are threads.
        let tasks = (0..<200).map { _ in Task { try await deep.request(0) } }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in tasks { requests.append(try await gate.nextRequest()) }
        #expect(try await Task { try await (Doubler() >>>> Doubler()).request(1) }.value == 4)
        for request in requests { request.answer(0) }
        for task in tasks { #expect(try await task.value == 100) }
    }

    @Test("is a value: its stages can be looked at and its type can be named")
    func named() {
        let sequence: SequenceDataProvider<Doubler, Doubler> = Doubler() >>>> Doubler()
        _ = (sequence.first, sequence.second)
        #expect(SequenceDataProvider<SequenceDataProvider<Doubler, Doubler>, Doubler>._stageCount == 3)
    }
}
