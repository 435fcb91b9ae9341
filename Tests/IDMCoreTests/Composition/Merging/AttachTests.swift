import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("An attached provider", .timeLimit(.ample))
struct AttachTests {
    @Test("gets the same input, and can't affect the result, its time or its errors")
    func beside() async throws {
        let side = ControlledDataProvider<Int, String>()
        let provider = Doubler().attached(side)
        #expect(try await provider.request(2) == 4)
        let request = try await side.nextRequest()
        #expect(request.input == 2)
        // The result is there; the side provider is left to run.
        #expect(!request.isCancelled)
        request.fail(Trouble.first)
        try await request.ended()
    }

    @Test("that fails leaves the provider alone")
    func failing() async throws {
        #expect(try await Doubler().attached(Failing(Trouble.first)).request(2) == 4)
    }

    @Test("is asked also when the provider fails, and runs on")
    func providerFails() async throws {
        let side = ControlledDataProvider<Int, String>()
        await #expect(throws: Trouble.first) {
            try await Failing(Trouble.first).attached(side).request(2)
        }
        #expect(try await !side.nextRequest().isCancelled)
    }

    @Test("is cancelled when the request is cancelled")
    func cancel() async throws {
        let (main, side) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, String>())
        let task = Task { try await main.attached(side).request(2) }
        let (one, two) = (try await main.nextRequest(), try await side.nextRequest())
        task.cancel()
        try await one.cancelled()
        try await two.cancelled()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("is asked once for a stream, and the stream stays one")
    func stream() async throws {
        let side = ControlledDataProvider<Int, Int>()
        let provider = Listed(1, 2).attached(side)
        #expect(provider.deliversMany)
        #expect(await collect(provider, 0).values == [1, 2])
        _ = try await side.nextRequest()
        #expect(side.requestCount == 1)
    }

    @Test("is left to run when a stream has ended, and is cancelled when it is left before", arguments: [false, true])
    func streamLeft(ends: Bool) async throws {
        let side = ControlledDataProvider<Int, Int>()
        var values: ProviderValues<Int>.Iterator? = Listed(1, 2).attached(side).values(for: 0).makeAsyncIterator()
        #expect(try await values?.next() == 1)
        let request = try await side.nextRequest()
        #expect(!request.isCancelled)
        if ends {
            #expect(try await values?.next() == 2)
            #expect(try await values?.next() == nil)
        }
        values = nil
        #expect(request.isCancelled == !ends)
    }

    @Test("is cancelled with a call, also while that tells a value") @MainActor
    func cancelledInAHandler() async throws {
        let (main, side) = (ControlledStreamDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        var task: IntegrationTask<Int>?
        task = Integrator(main.attached(side)).prepareCall(1).onSuccess { _ in task?.cancel() }.call()
        let (request, sideRequest) = (try await main.nextRequest(), try await side.nextRequest())
        request.send(1)
        await task?.finish()
        try await sideRequest.cancelled()
    }

    @Test("isn't heard in the progress")
    func progress() async throws {
        let log = ProgressLog()
        let side = ControlledDataProvider<Int, Int>()
        _ = try await log.reporter.ambient { try await Doubler().attached(side).request(1) }
        #expect(try await side.nextRequest().reporter == nil)
        #expect(log.fractions.isEmpty)
    }
}
