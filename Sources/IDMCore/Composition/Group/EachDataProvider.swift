/// A provider asked for many inputs at once: `[Input]` to `[Output]`, in the same order. Made by
/// ``DataProvider/each(maxConcurrent:)``.
public struct EachDataProvider<Base: DataProvider>: DataProvider {
    private let base: Base
    private let maxConcurrent: Int

    /// Makes a provider that asks the base for every input, so many at the same time. A width below one is one.
    public init(_ base: Base, maxConcurrent: Int = .max) {
        self.base = base
        self.maxConcurrent = max(maxConcurrent, 1)
    }

    /// Asks for all inputs, and answers when the last of them is answered.
    public func request(_ inputs: [Base.Input]) async throws -> [Base.Output] {
        try await run(inputs, progress: GroupProgress.current(count: inputs.count), isolation: #isolation)
    }

    /// The base, with how many requests of it run at the same time.
    public var structure: ProviderStructure {
        .wrapping(base.structure, in: maxConcurrent == .max ? "each" : "each, \(maxConcurrent) at a time")
    }

    private typealias Group = ThrowingTaskGroup<(Int, Base.Output), any Error>

    private func run(
        _ inputs: [Base.Input], progress: GroupProgress?, isolation: isolated (any Actor)?
    ) async throws -> [Base.Output] {
        let (failure, watch) = (FirstFailure(), LibraryTask.watch)
        defer { watch?.workArrived() }
        return try await withThrowingTaskGroup(of: (Int, Base.Output).self) { group in
            // Captured, or the closure leaves the caller's actor.
            _ = isolation
            // Out of a group it goes by way of the pool.
            defer { watch?.workDeparts() }
            do {
                return try await gather(inputs, progress, failure, watch, from: &group, isolation: isolation)
            } catch {
                // Here, and not at the end of the group: there nobody would be told where they arrive.
                group.cancelAll()
                while !group.isEmpty { _ = try? await next(from: &group, watch, isolation: isolation) }
                throw error
            }
        }
    }

    private func gather(
        _ inputs: [Base.Input], _ progress: GroupProgress?, _ failure: FirstFailure, _ watch: (any WorkWatch)?,
        from group: inout Group, isolation: isolated (any Actor)?
    ) async throws -> [Base.Output] {
        var outputs = [Base.Output?](repeating: nil, count: inputs.count)
        var started = 0
        // One may fail in the turn in which it starts.
        while started < min(maxConcurrent, inputs.count), failure.error == nil {
            try Task.checkCancellation()
            start(inputs[started], started, progress, failure, watch, in: &group, isolation: isolation)
            started += 1
        }
        while let (index, output) = try await next(from: &group, watch, isolation: isolation) {
            outputs[index] = output
            guard started < inputs.count else { continue }
            // A request that ignored the cancel is no reason to make another one.
            try Task.checkCancellation()
            start(inputs[started], started, progress, failure, watch, in: &group, isolation: isolation)
            started += 1
        }
        return outputs.compactMap(\.self)
    }

    /// Waits for the next end. It has been told of, and this is where it arrives.
    private func next(
        from group: inout Group, _ watch: (any WorkWatch)?, isolation: isolated (any Actor)?
    ) async throws -> (Int, Base.Output)? {
        guard !group.isEmpty else { return nil }
        defer { watch?.workArrived() }
        return try await group.next(isolation: isolation)
    }

    private func start(
        _ input: Base.Input, _ index: Int, _ progress: GroupProgress?, _ failure: FirstFailure,
        _ watch: (any WorkWatch)?, in group: inout Group, isolation: isolated (any Actor)?
    ) {
        let reporter = progress?.memberReporter(index)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil {
            group.addImmediateTask {
                _ = isolation
                defer { watch?.workDeparts() }
                return (index, try await ask(input, reporter, failure))
            }
        } else {
            group.addTask {
                _ = isolation
                defer { watch?.workDeparts() }
                return (index, try await ask(input, reporter, failure))
            }
        }
    }

    func ask(
        _ input: Base.Input, _ reporter: IntegrationProgress.Reporter?, _ failure: FirstFailure
    ) async throws -> Base.Output {
        // Its turn may have come late. It may also end before the one that has failed does, and so with that one's
        // error.
        if let error = failure.error { throw error }
        try Task.checkCancellation()
        do {
            let output = try await base._request(input, reporter: reporter)
            reporter?.report(fraction: 1)
            return output
        } catch {
            failure.take(error)
            throw error
        }
    }
}

/// The first error of many requests: known before the group of them knows.
final class FirstFailure: Sendable {
    private let first = Locked<(any Error)?>(nil)

    var error: (any Error)? { first.withLock { $0 } }

    func take(_ error: any Error) {
        first.withLock { $0 = $0 ?? error }
    }
}

extension DataProvider {
    /// This provider for many inputs at once: an array of inputs to an array of outputs, in the same order.
    ///
    /// Each input is a request of its own, made on the caller's actor, and no more of them run at the same time than
    /// allowed; the next one starts when one has ended. The first failure cancels those that run, keeps the rest from
    /// being asked, and is thrown once all have ended. No inputs give no outputs, and ask nobody. Cancelling cancels
    /// every request that runs.
    ///
    /// Requests start in the turn of the caller's actor where the platform can, but the answer comes in a later turn of
    /// that, also when all of them have been answered at once.
    ///
    /// Not a stream: of a provider that delivers many values each output is the last. Progress is the mean.
    ///
    /// - Parameter maxConcurrent: How many requests may run at the same time. Below one is one.
    public func each(maxConcurrent: Int = .max) -> EachDataProvider<Self> {
        EachDataProvider(self, maxConcurrent: maxConcurrent)
    }
}
