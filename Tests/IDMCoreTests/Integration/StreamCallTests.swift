import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct StreamCallTests {
    private let stream = ControlledStreamDataProvider<Int, Int>()
    private let log = Log()

    @Test func `each value of a stream is delivered, and the last is the outcome`() async throws {
        let task = Integrator(stream).prepareCall(1).recorded(in: log).call()
        let request = try await stream.waitForRequest()
        for value in 1...3 {
            request.send(value)
            try await log.contains("success \(value)")
        }
        request.finish()
        await task.finish()

        #expect(log.entries == ["begin", "success 1", "success 2", "success 3", "completion"])
        #expect(try await task.value == 3)
    }

    @Test(arguments: [false, true])
    func `a cancel between values ends the call, also of a deaf stream`(isDeaf: Bool) async throws {
        let (stream, gone) = (ControlledStreamDataProvider<Int, Int>(reactsToCancel: !isDeaf), Signal())
        let task = Integrator(stream).prepareCall(1).recorded(in: log).opening(gone).call()
        let request = try await stream.waitForRequest()
        request.send(1)
        try await log.contains("success 1")

        task.cancel()
        request.send(2)
        request.finish()
        try await request.waitUntilCancelled()
        try await gone.wait()

        #expect(log.entries == ["begin", "success 1", "cancel cancelled", "completion"])
    }

    // MARK: Models

    @Test(arguments: [ModelParsing.inline, .concurrent])
    func `a model is made from each value until one fails`(parsing: ModelParsing) async {
        let integrator = Integrator(Listed(1, 2, -1, 3), model: Text.self, parsing: parsing)
        await integrator.prepareCall(0).recorded(in: log).call().finish()

        // Making a model is a stage, which reports progress.
        let error = IntegrationError.model(Trouble.second)
        #expect(
            log.entries.filter { !$0.hasPrefix("progress") } == [
                "begin", "success 1", "success 2", "error \(error)", "completion",
            ])
    }

    @Test(arguments: [ModelParsing.inline, .concurrent])
    func `an inline model is delivered when call() returns, a concurrent one later`(parsing: ModelParsing) async {
        let task = Integrator(Echo<Int>(), model: Text.self, parsing: parsing).prepareCall(1)
            .onSuccess { [log] in log.add("success \($0)") }.call()
        let atOnce = log.entries
        await task.finish()

        #expect(log.entries == ["success 1"])
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(atOnce == (parsing == .inline ? ["success 1"] : []))
        }
    }
}
