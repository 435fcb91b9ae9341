import Foundation
import Synchronization

/// One thread per core. All threads begin the same work at the same moment.
///
/// Dedicated threads: threads of the pool start one after another, and the first may end before the last starts.
final class Crew: Sendable {
    private let size = Machine.cores
    private let arrived = Atomic(0)
    private let hasBegun = Atomic(false)
    private let beginning = Mutex(ContinuousClock.now)
    private let ended = Atomic(0)
    private let total = Atomic(0)

    /// Performs the work once on each thread.
    ///
    /// - Returns: The sum of the results, and the time from the start of the last thread to the end of the last thread.
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

    /// Spins until all threads have started. A thread that sleeps wakes up late.
    private func gather() {
        if arrived.add(1, ordering: .acquiringAndReleasing).newValue == size {
            beginning.withLock { $0 = .now }
            hasBegun.store(true, ordering: .releasing)
        }
        while !hasBegun.load(ordering: .acquiring) {}
    }

    /// Returns the total, if this thread was the last to end.
    private func end(with answer: Int) -> (total: Int, duration: Duration)? {
        total.add(answer, ordering: .relaxed)
        guard ended.add(1, ordering: .acquiringAndReleasing).newValue == size else { return nil }
        return (total.load(ordering: .relaxed), beginning.withLock { $0 }.duration(to: .now))
    }
}
