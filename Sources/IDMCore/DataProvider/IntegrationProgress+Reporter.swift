public import Synchronization

extension IntegrationProgress {
    /// Takes the reports of a provider. Good on any thread, at any time; after the call's end it does nothing.
    public struct Reporter: Sendable {
        @TaskLocal static var ambient: Reporter?

        /// How many ``ambient(isolation:_:)`` run in this process. A task-local read is a walk, and one that finds
        /// nothing costs a short sequence a fifth of its time: where nobody listens at all, nobody has to look.
        @usableFromInline static let listeners = Atomic(0)

        /// The ambient reporter, or nil if nobody listens.
        @inlinable static var current: Reporter? {
            guard listeners.load(ordering: .relaxed) > 0 else { return nil }
            return bound
        }

        @usableFromInline static var bound: Reporter? { ambient }

        private let listener: any ProgressListener
        private let start: Double
        private let share: Double

        package init(_ listener: any ProgressListener, start: Double = 0, share: Double = 1) {
            self.listener = listener
            self.start = start
            self.share = share
        }

        /// Reports units done, of a total that may be unknown. Without a usable total the fraction stays where it is.
        public func report(completed: Int64, total: Int64?) {
            let fraction = total.map { $0 > 0 ? Double(completed) / Double($0) : 0 } ?? 0
            send(IntegrationProgress(fraction: fraction, completed: completed, total: total))
        }

        /// Reports a fraction from 0 to 1.
        public func report(fraction: Double) {
            send(IntegrationProgress(fraction: fraction))
        }

        /// Passes a report on, with the units that it counts.
        package func send(_ progress: IntegrationProgress) {
            listener.hear(
                IntegrationProgress(
                    fraction: start + progress.fraction * share, completed: progress.completed, total: progress.total))
        }

        /// The reporter for a part of the work that this one stands for.
        func part(from first: Int, count: Int, of total: Int) -> Reporter {
            let unit = share / Double(total)
            return Reporter(listener, start: start + unit * Double(first), share: unit * Double(count))
        }

        /// Runs a function whose calls report to nobody, whoever listens to the caller.
        package static func unbind<R>(_ body: () -> R) -> R {
            guard current != nil else { return body() }
            return $ambient.withValue(nil, operation: body)
        }

        /// Runs an operation whose calls report to nobody, whoever listens to the caller.
        package static func unbind<R>(
            isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> R
        ) async rethrows -> R {
            guard current != nil else { return try await operation() }
            return try await LibraryTask.binding($ambient, to: nil, operation)
        }

        /// Runs an operation whose reports go to this reporter.
        @usableFromInline
        package func ambient<R>(
            isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> R
        ) async rethrows -> R {
            Self.listeners.add(1, ordering: .relaxed)
            defer { Self.listeners.subtract(1, ordering: .relaxed) }
            return try await LibraryTask.binding(Self.$ambient, to: self, operation)
        }
    }
}

/// Whoever hears reports: a run, or a group that takes the mean of its members.
package protocol ProgressListener: AnyObject, Sendable {
    func hear(_ progress: IntegrationProgress)
}
