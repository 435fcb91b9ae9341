import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Which calls haven't ended, and when one has.
extension IntegrationRecorderTests {
    @Test("fails at the end for a call that hasn't ended, and at its line")
    func unended() async throws {
        let integrator = Integrator(ControlledDataProvider<Int, Int>())
        let line = #line + 4
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            await recorder.call(Integrator(Echo<Int>()).prepareCall(0)).finish()
            recorder.call(integrator.prepareCall(1))
            recorder.call(integrator.prepareCall(2))
            try await recorder.expect(.began, .succeeded(0), .completed, .began, .began)
        }
        let words = "Expected the call to have ended, and it had not."
        #expect(failures.map(\.summary) == ["\(line): \(words)", "\(line + 1): \(words)"])
        integrator.cancel()
    }

    @Test("fails at the end for the run of a recall that hasn't ended")
    func unendedRecall() async throws {
        let remote = Integrator(ControlledDataProvider<Int, Int>())
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: remote, 2))
            try await recorder.expect(.began, .succeeded(1), .completed, .began)
        }
        #expect(failures.map(\.message) == ["Expected the call to have ended, and it had not."])
        remote.cancel()
    }

    @Test("fails at the end for the run of a recall that waits for its turn")
    @MainActor
    func waitingRecall() async throws {
        let queue = Integrator(ControlledDataProvider<Int, Int>(), executing: .queue)
        queue.prepareCall(1).call()
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: queue, 2))
            try await recorder.expect(.began, .succeeded(1), .completed)
            #expect(queue.waitingCount == 1)
        }
        #expect(failures.map(\.message) == ["Expected the call to have ended, and it had not."])
        queue.cancel()
    }

    @Test("knows of a recall from the last event of the first run on")
    func recallToCome() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let recorder = IntegrationRecorder<Int>()
            // Asked after the last event, before the recall has been made.
            let next = Integrator<Int, Int>(
                Echo(),
                lane: { number in
                    recorder.verify()
                    return number
                })
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: next, 2)).finish()
        }
        #expect(
            failures.map(\.message) == [
                "Expected nothing more, and began, succeeded(1), completed came.",
                "Expected the call to have ended, and it had not.",
            ])
    }

    @Test("counts a call once, however many of its recalls haven't ended")
    func recalls() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let remote = Integrator(provider)
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(
                Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: remote, 2).thenRecall(with: remote, 3))
            let (first, _) = (try await provider.nextRequest(), try await provider.nextRequest())
            try await recorder.expect(.began, .succeeded(1), .completed, .began, .began)
            first.answer(2)
            try await recorder.expect(.succeeded(2), .completed)
        }
        #expect(failures.map(\.message) == ["Expected the call to have ended, and it had not."])
        remote.cancel()
    }

    @Test("knows of a recall until its last event, also after that of another one")
    @MainActor
    func lastOfTwoRecalls() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let remote = Integrator(provider)
        let completed = Watched(0)
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            recorder.call(
                Integrator(Echo<Int>()).prepareCall(1)
                    .onCompletion {
                        completed.change { $0 += 1 }
                        // Runs before the recorder's own. What ends here hasn't had its last event.
                        if completed.value == 3 { recorder.verify() }
                    }
                    .thenRecall(with: remote, 2).thenRecall(with: remote, 3))
            let (first, second) = (try await provider.nextRequest(), try await provider.nextRequest())
            try await recorder.expect(.began, .succeeded(1), .completed, .began, .began)
            first.answer(2)
            try await recorder.expect(.succeeded(2), .completed)
            second.answer(3)
            try await recorder.expect(.succeeded(3), .completed)
            recorder.verify()
        }
        #expect(completed.value == 3)
        // The value comes in the same turn as the end, so nobody has expected it by then.
        #expect(
            failures.map(\.message) == [
                "Expected nothing more, and succeeded(3) came.", "Expected the call to have ended, and it had not.",
            ])
    }

    @Test("knows of a recall that never begins until it has heard of the cancel")
    @MainActor
    func cancelledRecall() async throws {
        let queue = Integrator(ControlledDataProvider<Int, Int>(), executing: .queue)
        queue.prepareCall(1).call()
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            // Runs before the recorder's own: the last event is still to come.
            let task = recorder.call(
                Integrator(Echo<Int>()).prepareCall(1).onCancel { _ in recorder.verify() }.thenRecall(with: queue, 2))
            try await recorder.expect(.began, .succeeded(1), .completed)
            queue.cancel()
            try await recorder.expect(.cancelled(.cancelled))
            recorder.verify()
            await task.finish()
        }
        #expect(failures.map(\.message) == ["Expected the call to have ended, and it had not."])
    }

    @Test("counts a call of an integrator from when it is made, also if that begins in a later turn")
    @MainActor
    func unbegunOfIntegrator() async throws {
        let integrator = Integrator(ControlledDataProvider<Int, Int>())
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.hear(integrator)
            // What a handler calls begins when that has returned.
            Integrator(Echo<Int>()).prepareCall(1).onSuccess { _ in integrator.prepareCall(2).call() }.call()
        }
        #expect(failures.map(\.message) == ["Expected every call to have ended, and 1 had not."])
        integrator.cancel()
    }

    @Test("counts a call of an integrator until its last event, also if the integrator is gone by then")
    @MainActor
    func callOfReleased() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            do {
                let search = Integrator(
                    Echo<Int>(), executing: .latest(debounce: .seconds(1)), clock: ManualClock())
                recorder.hear(search)
                search.prepareCall(1).call()
            }
            recorder.verify()
            try await recorder.expect(.cancelled(.released))
            recorder.verify()
        }
        #expect(failures.map(\.message) == ["Expected every call to have ended, and 1 had not."])
    }

    @Test("expects no recall of a call that was cancelled, nor one that was cut off")
    @MainActor
    func noRecall() async throws {
        let (provider, remote) = (ControlledDataProvider<Int, Int>(), Integrator(Echo<Int>()))
        let queue = Integrator(provider, executing: .queue)
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            let running = recorder.call(queue.prepareCall(1).thenRecall(with: remote, 2))
            let waiting = recorder.call(queue.prepareCall(1).thenRecall(with: remote, 2))
            waiting.cancel()
            try await recorder.expect(.began, .cancelled(.cancelled))
            running.cancel()
            try await recorder.expect(.cancelled(.cancelled), .completed)

            let (task, request) = (Watched<IntegrationTask<Int>?>(nil), try await provider.nextRequest())
            #expect(request.isCancelled)
            let cut = recorder.call(
                queue.prepareCall(1).onCompletion { task.value?.cancel() }.thenRecall(with: remote, 2))
            task.change { $0 = cut }
            try await provider.nextRequest().answer(3)
            try await recorder.expect(.began, .succeeded(3), .completed)

            let late = recorder.call(Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: remote, 2))
            // The first run has ended, and the recall begins in a later turn.
            late.cancel()
            try await recorder.expect(.began, .succeeded(1), .completed, .cancelled(.cancelled))
        }
    }

    @Test("knows that a recall has ended with its last event, also where that comes as the recall is made")
    func endedRecall() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let executor = PromptExecutor()
        let failures = LibraryTask.$executor.withValue(executor) {
            Task(executorPreference: executor) {
                try await TestScope.failures {
                    let recorder = IntegrationRecorder<Int>()
                    recorder.call(integrator.prepareCall(1).thenRecall(with: Integrator(Echo<Int>()), 2))
                    try await recorder.expect(.began, .succeeded(1), .completed, .began, .succeeded(2), .completed)
                }
            }
        }
        // The scope above waits for events by now. It hears them all, and ends, before the call that makes the recall
        // returns.
        try await provider.nextRequest().answer(1)
        #expect(try await failures.value.map(\.message) == [])
        withExtendedLifetime(integrator) {}
    }

    @Test("asks nothing after a recall that has ended", arguments: 0..<4)
    func endedRecalls(number: Int) async throws {
        for _ in 0..<125 {
            try await TestScope.run {
                let recorder = IntegrationRecorder<Int>()
                recorder.call(
                    Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: Integrator(Echo<Int>()), 2))
                try await recorder.expect(.began, .succeeded(1), .completed, .began, .succeeded(2), .completed)
            }
        }
    }

    @Test("waits for no event of an integrator that is gone, with all its calls")
    func goneIntegrator() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            do {
                let (first, second) = (Integrator(Echo<Int>()), Integrator(provider))
                recorder.hear(first)
                recorder.hear(second)
                await first.prepareCall(1).call().finish()
                second.prepareCall(2).call()
                _ = try await provider.nextRequest()
                withExtendedLifetime(second) {}
            }
            try await recorder.expect(.began, .succeeded(1), .completed, .began)
            try await recorder.expect(.cancelled(.released), .completed, .began)
        }
        #expect(
            failures.map(\.message) == [
                "Expected cancelled(released), completed, began, and cancelled(released), completed came."
            ])
    }

    @Test("waits for events of an integrator that is still there, also when its calls have ended")
    func heldIntegrator() async throws {
        // In some of the orders the recorder waits before the value comes.
        try await explore(seeds: 0..<20, patience: .zero) { _ in
            let (provider, recorder) = (ControlledDataProvider<Int, Int>(), IntegrationRecorder<Int>())
            let integrator = Integrator(provider)
            recorder.hear(integrator)
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            try await recorder.expect(.began, .succeeded(1), .completed)
            async let next: Void = recorder.expect(.began, .succeeded(2), .completed)
            let task = integrator.prepareCall(2).call()
            try await provider.nextRequest().answer(2)
            await task.finish()
            try await next
        }
    }

    @Test("tells of each event and each call that is left over once, and waits for them all the same")
    func leftoversOnce() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let (heard, other) = (Integrator(provider), Integrator(provider))
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.hear(heard)
            recorder.call(other.prepareCall(1))
            _ = try await provider.nextRequest()
            for _ in 0..<2 { recorder.verify() }
            try await recorder.expect(.began)
            heard.prepareCall(2).call()
            _ = try await provider.nextRequest()
            for _ in 0..<2 { recorder.verify() }
            recorder.call(other.prepareCall(3))
            _ = try await provider.nextRequest()
        }
        let event = "Expected nothing more, and began came."
        let call = "Expected the call to have ended, and it had not."
        #expect(
            failures.map(\.message) == [
                event, call, event, "Expected every call to have ended, and 1 had not.", call, event,
            ])
        for integrator in [heard, other] { integrator.cancel() }
    }
}

/// Runs each job where it is handed in, before whoever hands it in goes on.
private final class PromptExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
