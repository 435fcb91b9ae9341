import IDMCore
import Synchronization

/// A provider whose requests wait until the test ends them.
final class ControlledDataProvider<Input: Sendable, Output: Sendable>: CallbackDataProvider {
    final class Request: Sendable {
        let input: Input
        let reporter = IntegrationProgress.current
        let pause = PauseControl.current
        private let completion: @Sendable (Result<Output, any Error>) -> Void
        private let cancels = AsyncStream<Void>.makeStream()

        init(_ input: Input, _ completion: @escaping @Sendable (Result<Output, any Error>) -> Void) {
            self.input = input
            self.completion = completion
        }

        func answer(_ output: Output) { completion(.success(output)) }
        func fail(_ error: any Error) { completion(.failure(error)) }
        func cancelled() async { for await _ in cancels.stream { return } }
        fileprivate func cancel() { cancels.continuation.yield() }
    }

    private let requests = AsyncStream<Request>.makeStream()
    private let count = Atomic(0)

    var requestCount: Int { count.load(ordering: .relaxed) }

    func request(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) -> CancelHandler? {
        let request = Request(input, completion)
        count.add(1, ordering: .relaxed)
        requests.continuation.yield(request)
        return { request.cancel() }
    }

    func nextRequest() async throws -> Request {
        for await request in requests.stream { return request }
        throw CancellationError()
    }
}
