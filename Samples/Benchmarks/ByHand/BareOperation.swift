import Foundation
import IDMCore
import Synchronization

/// An asynchronous operation around a provider, with the minimum that Foundation requires: no handlers, no pause, and a
/// cancel that only cancels the task.
final class BareOperation: Operation, @unchecked Sendable {
    private enum Phase { case ready, executing, finished }

    private let phase = Mutex(Phase.ready)
    private let provider: Increment
    private let input: Int
    private let report: @Sendable (Int) -> Void

    init(_ provider: Increment, _ input: Int, report: @escaping @Sendable (Int) -> Void) {
        self.provider = provider
        self.input = input
        self.report = report
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase.withLock { $0 == .executing } }
    override var isFinished: Bool { phase.withLock { $0 == .finished } }

    override func start() {
        enter(.executing)
        Task {
            if let value = try? await provider.request(input) { report(value) }
            enter(.finished)
        }
    }

    private func enter(_ next: Phase) {
        willChangeValue(for: \.isExecuting)
        willChangeValue(for: \.isFinished)
        phase.withLock { $0 = next }
        didChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isFinished)
    }
}
