import Foundation
import IDMCore
import Synchronization
import TestSupport
import Testing

@testable import IDMOperations

/// What a queue keeps of whether an operation is ready, where another thread comes between its reading and its keeping.
@Suite("The readiness of an operation", .timeLimit(.ample))
struct OperationReadinessTests {
    /// Has something happen as soon as it has been read that it isn't ready.
    private final class Interrupted: ResultOperation<Int>, @unchecked Sendable {
        private let interruption = Mutex<(@Sendable (Interrupted) -> Void)?>(nil)
        private let whenGone: (@Sendable () -> Void)?

        init(whenGone: (@Sendable () -> Void)? = nil) {
            self.whenGone = whenGone
            super.init(Integrator(ClosureDataProvider<Void, Int> { 1 }).prepareCall())
        }

        convenience init(by interruption: @escaping @Sendable (Interrupted) -> Void) {
            self.init()
            interrupt(by: interruption)
        }

        func interrupt(by interruption: @escaping @Sendable (Interrupted) -> Void) {
            self.interruption.withLock { $0 = interruption }
        }

        deinit { whenGone?() }

        override var isReady: Bool {
            let isReady = super.isReady
            if !isReady { interruption.withLock { $0.take() }?(self) }
            return isReady
        }
    }

    /// Pauses an operation in a queue that can't start it yet, and lets the queue go on.
    private func pauseInQueue(_ operation: Interrupted) async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.addOperation(operation)
        operation.pause()
        queue.isSuspended = false
        try await operation.finished()
    }

    @Test func `a resume that comes while a pause is told isn't lost`() async throws {
        let operation = Interrupted { $0.resume() }
        try await pauseInQueue(operation)
        #expect(operation.outcome?.value == 1)
    }

    @Test func `a cancel that comes while a pause is told isn't lost`() async throws {
        let operation = Interrupted { $0.cancel() }
        try await pauseInQueue(operation)
        guard case .cancelled = operation.outcome else {
            Issue.record("It ended with \(String(describing: operation.outcome)).")
            return
        }
    }

    @Test func `a resume that comes while a queue takes the operation isn't lost`() async throws {
        let operation = Interrupted()
        operation.pause()
        operation.interrupt { $0.resume() }
        let queue = OperationQueue()
        queue.addOperation(operation)
        try await operation.finished()
        #expect(operation.outcome?.value == 1)
    }

    @Test(
        arguments: [
            [.cancel], [.cancel, .pause], [.resume, .cancel, .pause], [.pause, .cancel, .pause, .resume, .pause],
        ] as [[Step]])
    func `a cancel that comes while a queue takes the operation isn't lost`(steps: [Step]) async throws {
        for isPaused in [true, false] {
            let (operation, dependency) = (Interrupted(), BlockOperation {})
            if isPaused { operation.pause() } else { operation.addDependency(dependency) }
            operation.interrupt { operation in
                for step in steps {
                    switch step {
                    case .pause: operation.pause()
                    case .resume: operation.resume()
                    case .cancel: operation.cancel()
                    }
                }
            }
            let queue = OperationQueue()
            queue.addOperation(operation)
            try await operation.finished()
            guard case .cancelled = operation.outcome else {
                Issue.record("It ended with \(String(describing: operation.outcome)).")
                return
            }
        }
    }

    @Test(arguments: [1, 3], [false, true])
    func `the end of the last dependency, as a queue takes the operation, isn't lost`(
        count: Int, isFull: Bool
    ) async throws {
        let (operation, dependencies) = (Interrupted(), (0..<count).map { _ in BlockOperation {} })
        for dependency in dependencies { operation.addDependency(dependency) }
        operation.interrupt { _ in for dependency in dependencies { dependency.start() } }
        let (queue, gate) = (OperationQueue(), Gate())
        queue.maxConcurrentOperationCount = 1
        if isFull { queue.addOperation { gate.wait() } }
        queue.addOperation(operation)
        gate.open()
        try await operation.finished()
        #expect(operation.outcome?.value == 1)
    }

    @Test(arguments: [false, true])
    func `one that was asked whether it is ready goes when nobody holds it`(isReady: Bool) async throws {
        let (dependency, isGone) = (BlockOperation {}, Signal())
        do {
            let operation = Interrupted(whenGone: { isGone.open() })
            operation.addDependency(dependency)
            #expect(!operation.isReady)
            if isReady { dependency.start() }
            #expect(operation.isReady == isReady)
        }
        try await isGone.wait()
        if !isReady { dependency.start() }
        #expect(dependency.isFinished)
    }

    enum Step: Sendable { case pause, resume, cancel }

    @Test func `a thread waits for all that are in a queue, paused and cancelled ones among them`() async throws {
        let queue = OperationQueue()
        let operations = (0..<200).map { value in
            DataProviderOperation(ClosureDataProvider<Void, Int> { value })
        }
        for (index, operation) in operations.enumerated() where index > 0 {
            operation.addDependency(operations[index / 2])
        }
        for operation in operations.dropFirst(100) { operation.pause() }
        let isOver = Signal()
        for operation in operations { queue.addOperation(operation) }
        Thread.detachNewThread {
            queue.waitUntilAllOperationsAreFinished()
            isOver.open()
        }
        for (index, operation) in operations.enumerated().dropFirst(100) {
            if index.isMultiple(of: 3) { operation.cancel() } else { operation.resume() }
        }
        await isOver.waitIgnoringCancel()
        #expect(operations.allSatisfy { $0.isFinished && $0.outcome != nil })
        #expect(operations.prefix(100).allSatisfy { $0.outcome?.value != nil })
    }

    @Test func `a resume that comes while a dependency ends, in a suspended queue, isn't lost`() async throws {
        let (operation, dependency) = (Interrupted(), BlockOperation {})
        operation.addDependency(dependency)
        operation.pause()
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.addOperation(operation)
        operation.interrupt { $0.resume() }
        dependency.start()
        queue.isSuspended = false
        try await operation.finished()
        #expect(operation.outcome?.value == 1)
    }
}
