import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(
    "Rule 10: a queue starts its calls in the order of call(), the next one after the completion",
    .inScope, .timeLimit(.ample))
@MainActor
struct Rule10QueueTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    @Test("Calls start in the order in which they were made")
    func inOrder() async {
        let integrator = Integrator(Echo<Int>(), executing: .queue)
        let tasks = (0..<100).map { recorder.call(integrator.prepareCall($0)) }
        for (input, task) in tasks.enumerated() {
            await task.finish()
            recorder.expectRecorded(.began, .succeeded(input), .completed)
        }
    }

    @Test("Calls made on several actors start in the order in which call() was entered")
    func acrossActors() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue)
        var tasks = [integrator.prepareCall(0).call()]
        for input in 1...20 {
            tasks.append(input % 2 == 0 ? await elsewhere(integrator, input) : integrator.prepareCall(input).call())
        }
        for input in 0...20 {
            let request = try await provider.waitForRequest()
            #expect(request.input == input)
            request.answer(input)
        }
        for task in tasks { await task.finish() }
    }

    @concurrent
    private func elsewhere(_ integrator: Integrator<Int, Int>, _ input: Int) async -> IntegrationTask<Int> {
        integrator.prepareCall(input).call()
    }

    @Test("The next one starts only after the onCompletion of the one before")
    func afterTheCompletion() async throws {
        let (stage, provider) = (Stage(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider, executing: .queue)
        let call = integrator.prepareCall(1)
        let first = stage.here { stage in call.onCompletion { [log] in log.add("first: completion") } }.call()
        let second = integrator.prepareCall(2).recorded(in: log, as: "second").call()
        try await provider.waitForRequest().answer(1)
        try await stage.executor.waitForJobs()
        // A call that could start would have by now: what the queue had to decide was decided before the completion.
        #expect(provider.requestCount == 1)
        stage.executor.open()
        await first.finish()
        let request = try await provider.waitForRequest()
        #expect(log.entries.first == "first: completion")
        request.answer(2)
        await second.finish()
    }

    @Test("With a width, so many run at once, and the next one after the completion of one of them", arguments: 1...4)
    func width(width: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(width: width))
        let tasks = (0..<12).map { integrator.prepareCall($0).call() }
        var generator = SplitMix(seed: UInt64(width))
        var running: [ControlledRequest<Int, Int>] = []
        for input in 0..<12 {
            let request = try await provider.waitForRequest()
            #expect(request.input == input)
            running.append(request)
            guard running.count == width else { continue }
            #expect(provider.requestCount == input + 1)
            let ended = running.remove(at: Int.random(in: 0..<width, using: &generator))
            ended.answer(ended.input)
            await tasks[ended.input].finish()
        }
        for request in running { request.answer(request.input) }
        for (index, task) in tasks.enumerated() { #expect(await task.outcome == .success(index)) }
    }

    @Test("Past the limit a call is ignored, and a place that is free again is given again")
    func limit() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(limit: 2))
        let tasks = (0..<5).map { integrator.prepareCall($0).call() }
        #expect(await tasks[3].outcome == .cancelled(.ignored))
        #expect(await tasks[4].outcome == .cancelled(.ignored))
        tasks[1].cancel()
        let late = integrator.prepareCall(5).call()
        for expected in [0, 2, 5] {
            let request = try await provider.waitForRequest()
            #expect(request.input == expected)
            request.answer(expected)
        }
        for (task, value) in [(tasks[0], 0), (tasks[2], 2), (late, 5)] {
            #expect(await task.outcome == .success(value))
        }
        #expect(await tasks[1].outcome == .cancelled(.cancelled))
    }

    // MARK: What must not stall it

    @Test("A failed entry does not stall the rest")
    func failed() async {
        let integrator = Integrator(FailsBelowZero(), executing: .queue)
        let inputs = [1, -1, 2, -2, -3, 3]
        let tasks = inputs.map { recorder.call(integrator.prepareCall($0)) }
        for (input, task) in zip(inputs, tasks) {
            await task.finish()
            recorder.expectRecorded(
                .began, input > 0 ? .succeeded(input) : .failed(Trouble.numbered(input)), .completed)
        }
    }

    @Test("A cancelled entry is not delivered and does not stall the rest, wherever it stands", arguments: 0..<5)
    func cancelled(index: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue)
        let tasks = (0..<5).map { number in
            let call = integrator.prepareCall(number)
            return number == index ? recorder.call(call) : call.call()
        }
        let first = try await provider.waitForRequest()
        tasks[index].cancel()
        await tasks[index].finish()
        if index != 0 { first.answer(0) }
        for input in 1..<5 where input != index {
            let request = try await provider.waitForRequest()
            #expect(request.input == input)
            request.answer(input)
        }
        for (input, task) in tasks.enumerated() {
            await task.finish()
            #expect(await task.outcome == (input == index ? .cancelled(.cancelled) : .success(input)))
        }
        if index == 0 {
            recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
        } else {
            recorder.expectRecorded(.cancelled(.cancelled))
        }
    }

    @Test("A deaf entry that is cancelled does not stall the rest, and one runs at a time from then on")
    func deaf() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .queue)
        let gone = Signal()
        let first = integrator.prepareCall(0).opening(gone).call()
        let rest = (1...3).map { integrator.prepareCall($0).call() }
        let hung = try await provider.waitForRequest()
        first.cancel()
        await first.finish()
        let second = try await provider.waitForRequest()
        // The answer of the one that was left behind must not let another one start.
        hung.answer(0)
        try await gone.wait()
        #expect(provider.requestCount == 2)
        second.answer(1)
        try await provider.waitForRequest().answer(2)
        try await provider.waitForRequest().answer(3)
        for (index, task) in rest.enumerated() { #expect(await task.outcome == .success(index + 1)) }
    }

    @Test("A whole line that is cancelled leaves the queue free")
    func cancelAll() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(width: 2))
        let tasks = (0..<10).map { integrator.prepareCall($0).call() }
        integrator.cancel()
        for task in tasks { #expect(await task.outcome == .cancelled(.cancelled)) }
        for task in tasks { await task.finish() }
        let late = integrator.prepareCall(10).call()
        while true {
            let request = try await provider.waitForRequest()
            guard request.input == 10 else { continue }
            request.answer(10)
            break
        }
        #expect(await late.outcome == .success(10))
    }

    @Test("A stream keeps its place until it has ended")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let integrator = Integrator(stream, executing: .queue)
        let first = recorder.call(integrator.prepareCall(1))
        let second = integrator.prepareCall(2).call()
        let request = try await stream.waitForRequest()
        request.send(1)
        try await recorder.waitForEvents(.began, .succeeded(1))
        #expect(stream.requestCount == 1)
        request.finish()
        await first.finish()
        recorder.expectRecorded(.completed)
        let next = try await stream.waitForRequest()
        #expect(next.input == 2)
        next.send(2)
        next.finish()
        #expect(await second.outcome == .success(2))
    }

    @Test("Ten thousand entries that are cancelled from the middle out leave the two ends in order")
    func removal() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue)
        let tasks = (0..<10_000).map { integrator.prepareCall($0).call() }
        for index in 1..<9_999 { tasks[(index * 7_919) % 9_998 + 1].cancel() }
        try await provider.waitForRequest().answer(0)
        let last = try await provider.waitForRequest()
        #expect(last.input == 9_999)
        last.answer(9_999)
        #expect(await tasks[9_999].outcome == .success(9_999))
        #expect(await tasks[5_000].outcome == .cancelled(.cancelled))
    }
}
