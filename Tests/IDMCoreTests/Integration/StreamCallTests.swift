import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The call of a stream", .inScope, .timeLimit(.ample))
@MainActor
struct StreamCallTests {
    private let stream = ControlledStreamDataProvider<Int, Int>()
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    @Test("Each value is heard in turn, and the last one is the value of the call")
    func values() async throws {
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        for value in 1...3 { request.send(value) }
        request.finish()
        #expect(try await task.value == 3)
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(1), .succeeded(2), .succeeded(3), .completed)
        #expect(await task.outcome == .success(3))
    }

    @Test("A value is heard when it comes, and not at the end")
    func inTurn() async throws {
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        try await recorder.waitForEvents(.began)
        for value in 1...3 {
            request.send(value)
            try await recorder.waitForEvents(.succeeded(value))
        }
        task.cancel()
        await task.finish()
        recorder.expectRecorded(.cancelled(.cancelled), .completed)
    }

    @Test("An error after values is a failure, and the values stand")
    func errorAfterValues() async throws {
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(Trouble.first)
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(1), .failed(Trouble.first), .completed)
        await #expect(throws: Trouble.first) { try await task.value }
    }

    @Test("No value at all is noAnswer")
    func noValue() async throws {
        let task = recorder.call(Integrator(stream).prepareCall(1))
        try await stream.waitForRequest().finish()
        await task.finish()
        recorder.expectRecorded(.began, .failed(DataProviderError.noAnswer), .completed)
        guard case .failure(DataProviderError.noAnswer) = await task.outcome else {
            Issue.record("ended otherwise")
            return
        }
    }

    @Test("A request is answered with the last value")
    func request() async throws {
        let integrator = Integrator(stream)
        async let value = integrator.request(1)
        let request = try await stream.waitForRequest()
        for value in 1...3 { request.send(value) }
        request.finish()
        #expect(try await value == 3)
    }

    @Test("A cancel between values ends the run, and a deaf stream is not heard after it", arguments: [false, true])
    func cancelBetweenValues(isDeaf: Bool) async throws {
        let (stream, gone) = (ControlledStreamDataProvider<Int, Int>(reactsToCancel: !isDeaf), Signal())
        let task = recorder.call(Integrator(stream).prepareCall(1).opening(gone))
        let request = try await stream.waitForRequest()
        request.send(1)
        try await recorder.waitForEvents(.began, .succeeded(1))
        task.cancel()
        request.send(2)
        request.finish()
        try await gone.wait()
        recorder.expectRecorded(.cancelled(.cancelled), .completed)
    }

    // MARK: Which providers are streams

    @Test("A stream that is hidden in some DataProvider is heard value by value")
    func hidden() async throws {
        try await expectBothValues(Integrator(hide(stream)))
    }

    private func hide(_ provider: ControlledStreamDataProvider<Int, Int>) -> some DataProvider<Int, Int> { provider }

    @Test("An erased stream, and one that has been mapped, are heard value by value")
    func erasedAndMapped() async throws {
        try await expectBothValues(Integrator(stream.eraseToAnyDataProvider()))
        try await expectBothValues(Integrator(stream.map { $0 }))
    }

    private func expectBothValues(_ integrator: Integrator<Int, Int>) async throws {
        let task = recorder.call(integrator.prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        try await recorder.waitForEvents(.began, .succeeded(1))
        request.send(2)
        request.finish()
        await task.finish()
        recorder.expectRecorded(.succeeded(2), .completed)
    }

    private struct Doubled: DataModel, CustomStringConvertible {
        let number: Int
        init(from source: Int) throws {
            if source < 0 { throw Trouble.numbered(source) }
            number = source * 2
        }
        var description: String { "\(number)" }
    }

    @Test("A model is made from each value", arguments: [false, true])
    func models(isInline: Bool) async throws {
        let integrator = Integrator(stream, model: Doubled.self, parsing: isInline ? .inline : .concurrent)
        let task = integrator.prepareCall(1).recorded(in: log).call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.send(2)
        request.send(-1)
        request.send(3)
        await task.finish()
        let error = IntegrationError.model(Trouble.numbered(-1))
        #expect(withoutProgress == ["begin", "success 2", "success 4", "error \(error)", "completion"])
    }

    /// Making a model is a stage of its own, and counts as one.
    private var withoutProgress: [String] { log.entries.filter { !$0.hasPrefix("progress") } }

    // MARK: Models of single values

    private func called(_ parsing: ModelParsing) -> IntegrationTask<Doubled> {
        Integrator(Echo<Int>(), model: Doubled.self, parsing: parsing).prepareCall(1)
            .onBeginning { [log] in log.add("begin") }
            .onSuccess { [log] in log.add("success \($0)") }
            .onCompletion { [log] in log.add("completion") }
            .call()
    }

    @Test("A model that is made inline is delivered when call() returns")
    func inlineModel() async {
        let task = called(.inline)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(log.entries == ["begin", "success 2", "completion"])
        }
        await task.finish()
        #expect(log.entries == ["begin", "success 2", "completion"])
    }

    @Test("A model that is made concurrently is delivered in a later turn, in the same order")
    func concurrentModel() async {
        let task = called(.concurrent)
        // It needs this actor, which has been busy since.
        #expect(!log.entries.contains("success 2"))
        await task.finish()
        #expect(log.entries == ["begin", "success 2", "completion"])
    }

    @Test("A report does not keep an answer from being delivered when call() returns")
    func reportsInOneTurn() async {
        let eager = ClosureDataProvider<Int, Int> { input in
            IntegrationProgress.report(completed: 1, total: 1)
            return input
        }
        let task = Integrator(eager).prepareCall(1).recorded(in: log).call()
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(log.entries == ["begin", "progress 1.0", "success 1", "completion"])
        }
        await task.finish()
    }
}
