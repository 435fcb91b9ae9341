import Foundation
import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMOperations

@Suite("A provider around operations", .timeLimit(.ample))
struct OperationDataProviderTests {
    /// A synchronous operation, as an app may have many of.
    private final class Doubling: Operation, @unchecked Sendable {
        private let output = Observed<Int?>(nil)
        private let input: Int
        init(_ input: Int) { self.input = input }
        var doubled: Int? { output.value }
        override func main() {
            let input = input
            if input > 0 { output.change { $0 = input * 2 } }
        }
    }

    @Test func `it makes an operation for each request, and answers with its output`() async throws {
        let provider = OperationDataProvider {
            Doubling($0)
        } output: {
            $0.doubled
        }
        #expect(try await provider.request(21) == 42)
        #expect(try await (provider >>>> provider).request(1) == 4)
    }

    @Test func `without an output, it says so`() async throws {
        let provider = OperationDataProvider {
            Doubling($0)
        } output: {
            $0.doubled
        }
        let error = await #expect(throws: OperationError.self) { try await provider.request(0) }
        guard case .noOutput(of: "Doubling") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `an operation that carries its result answers with that`() async throws {
        let provider = OperationDataProvider { (number: Int) in
            DataProviderOperation(ClosureDataProvider { (number: Int) in number + 1 }, number)
        }
        #expect(try await provider.request(1) == 2)
    }

    @Test func `its error is the operation's`() async throws {
        let provider = OperationDataProvider { (_: Int) in
            DataProviderOperation(ClosureDataProvider<Void, Int> { _ in throw Offline() })
        }
        await #expect(throws: Offline()) { try await provider.request(1) }
    }

    @Test func `a cancel reaches the operation, and ends the request at once also in a suspended queue`() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let made = Observed<[Doubling]>([])
        let provider = OperationDataProvider(on: queue) { (number: Int) -> Doubling in
            let operation = Doubling(number)
            made.change { $0.append(operation) }
            return operation
        } output: {
            $0.doubled
        }
        let task = Task { try await provider.request(1) }
        try await made.wait { $0.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(made.value[0].isCancelled)
        queue.isSuspended = false
    }

    @Test func `an operation that has been started before is refused`() async throws {
        let used = Doubling(1)
        used.start()
        let provider = OperationDataProvider { (_: Int) in
            used
        } output: {
            $0.doubled
        }
        let error = await #expect(throws: OperationError.self) { try await provider.request(1) }
        guard case .alreadyStarted("Doubling") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [true, false])
    func `an operation that waits for an earlier request is refused`(isOfAnother: Bool) async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let waiting = Doubling(21)
        let provider = OperationDataProvider(on: queue) { (_: Int) in
            waiting
        } output: {
            $0.doubled
        }
        let another = OperationDataProvider { (_: Int) in
            waiting
        } output: {
            $0.doubled
        }
        let answers = Log()
        _ = provider.request(1) { answers.add("first \($0)") }
        let error = await #expect(throws: OperationError.self) {
            try await (isOfAnother ? another : provider).request(2)
        }
        guard case .alreadyStarted("Doubling") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        queue.isSuspended = false
        try await answers.contains("first success(42)")
        #expect(answers.entries.count == 1)
    }

    /// Does something once, when it was found that it has not finished.
    private final class Overtaken: Operation, @unchecked Sendable {
        private let overtaking = Mutex<(@Sendable () -> Void)?>(nil)

        func overtake(_ body: @escaping @Sendable () -> Void) {
            overtaking.withLock { $0 = body }
        }

        override var isFinished: Bool {
            let isFinished = super.isFinished
            if !isFinished { overtaking.withLock { $0.take() }?() }
            return isFinished
        }
    }

    @Test func `one that another request finishes while it is looked at isn't put into a queue again`() async throws {
        let (queue, answers) = (OperationQueue(), Log())
        let operation = Overtaken()
        let provider = OperationDataProvider(on: queue) { (_: Int) in
            operation
        } output: { _ in
            1
        }
        operation.overtake {
            _ = provider.request(2) { answer in
                if case .failure(OperationError.alreadyStarted("Overtaken")) = answer { answers.add("second refused") }
            }
            queue.waitUntilAllOperationsAreFinished()
        }
        _ = provider.request(1) { answers.add("first \($0)") }
        try await answers.count(reaches: 2)
        #expect(answers.entries == ["second refused", "first success(1)"])
    }

    @Test func `an operation that carries its result pauses with the request, and reports to it`() async throws {
        let inner = ControlledDataProvider<Int, Int>()
        let provider = OperationDataProvider { (number: Int) in DataProviderOperation(inner, number) }
        let log = Log()
        let control = PauseControl()
        let users = Integrator(provider)
        control.pause()
        let task = control.bind { users.prepareCall(1).onProgress { log.add("\($0.fraction)") }.call() }
        #expect(inner.requestCount == 0)
        control.resume()
        let request = try await inner.waitForRequest()
        #expect(request.pauseControl !== control && request.pauseControl?.isPaused == false)
        request.reporter?.report(fraction: 0.5)
        try await log.contains("0.5")
        control.pause()
        #expect(request.pauseControl?.isPaused == true)
        control.resume()
        #expect(request.pauseControl?.isPaused == false)
        request.answer(2)
        #expect(try await task.value == 2)
    }

    @Test func `asked under a control that is paused, its operation waits for the resume`() async throws {
        let inner = ControlledDataProvider<Int, Int>()
        let made = Mutex<DataProviderOperation<Int, Int>?>(nil)
        let provider = OperationDataProvider { (number: Int) in
            let operation = DataProviderOperation(inner, number)
            made.withLock { $0 = operation }
            return operation
        }
        let answers = Log()
        let control = PauseControl()
        control.pause()
        let cancel = control.bind { provider.request(1) { answers.add("\($0)") } }
        #expect(made.withLock { $0 }?.isPaused == true && inner.requestCount == 0)
        control.resume()
        try await inner.waitForRequest().answer(2)
        try await answers.contains("success(2)")
        withExtendedLifetime(cancel) {}
    }

    private final class Forgetting: Operation, @unchecked Sendable {
        override func main() { completionBlock = {} }
    }

    @Test func `one that sets another completion block as it runs has no answer, and nobody waits for ever`() async {
        let provider = OperationDataProvider { (_: Int) in
            Forgetting()
        } output: { _ in
            1
        }
        await #expect(throws: DataProviderError.noAnswer) { try await provider.request(1) }
    }

    @Test func `a completion block of its own still runs`() async throws {
        let log = Log()
        let provider = OperationDataProvider { (number: Int) -> Doubling in
            let operation = Doubling(number)
            operation.completionBlock = { log.add("own") }
            return operation
        } output: {
            $0.doubled
        }
        _ = try await provider.request(1)
        #expect(log.entries == ["own"])
    }

    /// Is resumed just before each of its pauses.
    private final class Racing: ResultOperation<Int>, @unchecked Sendable {
        private let control: PauseControl

        init(_ control: PauseControl, _ provider: ControlledDataProvider<Void, Int>) {
            self.control = control
            super.init(Integrator(provider).prepareCall())
        }

        override func pause() {
            control.resume()
            super.pause()
        }
    }

    @Test func `of a pause and a resume that race the last one holds`() async throws {
        let inner = ControlledDataProvider<Void, Int>()
        let control = PauseControl()
        let provider = OperationDataProvider { (_: Int) in Racing(control, inner) }
        let answers = Log()
        let cancel = control.bind { provider.request(1) { answers.add("\($0)") } }
        let request = try await inner.waitForRequest()
        control.pause()
        #expect(!control.isPaused)
        request.answer(2)
        try await answers.contains("success(2)")
        withExtendedLifetime(cancel) {}
    }
}
