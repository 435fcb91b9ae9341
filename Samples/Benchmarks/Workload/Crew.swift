import Foundation
import Synchronization

/// A thread for each core, all of which begin the same work at the same moment.
///
/// Threads of their own: those of the pool come when they can, and by then the first of them may have done its part.
final class Crew: Sendable {
    private let size = Machine.cores
    private let arrived = Atomic(0)
    private let hasBegun = Atomic(false)
    private let beginning = Mutex(ContinuousClock.now)
    private let ended = Atomic(0)
    private let total = Atomic(0)

    /// Does the work once on each thread.
    ///
    /// - Returns: The sum of the answers, and the time from when all were there until all have ended.
    static func perform(_ work: @escaping @Sendable () -> Int) async -> (total: Int, duration: Duration) {
        let crew = Crew()
        return await withCheckedContinuation { continuation in
            for _ in 0..<crew.size {
                Thread.detachNewThread {
                    crew.gather()
                    guard let result = crew.end(with: work()) else { return }
                    continuation.resume(returning: result)
                }
            }
        }
    }

    /// Waits for the others without a sleep: whoever sleeps comes late.
    private func gather() {
        if arrived.add(1, ordering: .acquiringAndReleasing).newValue == size {
            beginning.withLock { $0 = .now }
            hasBegun.store(true, ordering: .releasing)
        }
        while !hasBegun.load(ordering: .acquiring) {}
    }

    /// Returns what all have done, if this was the last to end.
    private func end(with answer: Int) -> (total: Int, duration: Duration)? {
        total.add(answer, ordering: .relaxed)
        guard ended.add(1, ordering: .acquiringAndReleasing).newValue == size else { return nil }
        return (total.load(ordering: .relaxed), beginning.withLock { $0 }.duration(to: .now))
    }
}
