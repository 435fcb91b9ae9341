public import Synchronization

/// Counts the uses of values that compositions look up in the task: progress reporters, and attached providers.
///
/// A task-local read is a walk, and one that finds nothing costs a short sequence a fifth of its time (benchmark row
/// "sequence of two"). While the count is zero, nothing is looked up.
@usableFromInline
enum AmbientValues {
    @usableFromInline static let uses = Atomic(0)

    @inlinable static var areUsed: Bool { uses.load(ordering: .relaxed) > 0 }
}

extension IntegrationProgress {
    /// Reports the progress of a provider. Usable on any thread at any time; after the call's end it does nothing.
    public struct Reporter: Sendable {
        @TaskLocal static var ambient: Reporter?

        /// The ambient reporter, or nil if no call receives progress.
        static var current: Reporter? { AmbientValues.areUsed ? bound : nil }
        @usableFromInline static var bound: Reporter? { ambient }

        private let listener: any ProgressListener
        private let start: Double
        private let share: Double

        package init(_ listener: any ProgressListener, start: Double = 0, share: Double = 1) {
            self.listener = listener
            self.start = start
            self.share = share
        }

        /// Reports completed units of a total that may be unknown.
        ///
        /// Nothing of nothing, 0 of 0, is complete. Without a usable total the fraction counts as 0.
        public func report(completed: Int64, total: Int64?) {
            let fraction =
                switch total {
                case let total? where total > 0: Double(completed) / Double(total)
                case 0? where completed == 0: 1.0
                default: 0.0
                }
            send(IntegrationProgress(fraction: fraction, completed: completed, total: total))
        }

        /// Reports a fraction from 0 to 1.
        public func report(fraction: Double) { send(IntegrationProgress(fraction: fraction)) }

        /// Forwards a report, with the units that it counts.
        package func send(_ progress: IntegrationProgress) {
            listener.hear(
                IntegrationProgress(
                    fraction: start + progress.fraction * share, completed: progress.completed, total: progress.total))
        }

        /// Returns the reporter of `count` parts, beginning with part `first`, of `total` equal parts of this work.
        func part(from first: Int, count: Int, of total: Int) -> Reporter {
            let unit = share / Double(total)
            return Reporter(listener, start: start + unit * Double(first), share: unit * Double(count))
        }

        /// Runs `body` without an ambient reporter.
        package static func unbind<R>(_ body: () -> R) -> R {
            guard current != nil else { return body() }
            return $ambient.withValue(nil, operation: body)
        }

        /// Runs `operation` without an ambient reporter.
        package static func unbind<R>(
            isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> R
        ) async rethrows -> R {
            guard current != nil else { return try await operation() }
            return try await LibraryTask.binding($ambient, to: nil, operation)
        }

        /// Runs `operation` with this as the ambient reporter.
        @usableFromInline
        package func ambient<R>(
            isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> R
        ) async rethrows -> R {
            AmbientValues.uses.add(1, ordering: .relaxed)
            defer { AmbientValues.uses.subtract(1, ordering: .relaxed) }
            return try await LibraryTask.binding(Self.$ambient, to: self, operation)
        }
    }
}

/// A receiver of progress: a call, or a group that takes the mean of its members.
///
/// A class, so that a reporter is a few words that the optimizer sees through: in a sequence without progress it drops
/// them, and ten stages take a third of the time (benchmark row "sequence of ten", Swift 6.3).
package protocol ProgressListener: AnyObject, Sendable {
    func hear(_ progress: IntegrationProgress)
}
