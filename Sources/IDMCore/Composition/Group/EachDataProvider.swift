/// A provider that makes many requests of its base: `[Input]` to `[Output]`, in the same order. Made by
/// ``DataProvider/each(limit:)``.
public struct EachDataProvider<Base: DataProvider>: DataProvider {
    private let base: Base
    private let limit: Int

    init(_ base: Base, limit: Int) {
        self.base = base
        self.limit = max(limit, 1)
    }

    /// Makes a request for each input, and returns all answers.
    public func request(_ inputs: [Base.Input]) async throws -> [Base.Output] {
        try await run(inputs, progress: GroupProgress.current(count: inputs.count), isolation: #isolation)
    }

    /// The base, with the number of concurrent requests.
    public var structure: ProviderStructure {
        .wrapping(base.structure, in: limit == .max ? "each" : "each, \(limit) at a time")
    }

    private typealias Group = ThrowingTaskGroup<(Int, Base.Output), any Error>

    private func run(
        _ inputs: [Base.Input], progress: GroupProgress?, isolation: isolated (any Actor)?
    ) async throws -> [Base.Output] {
        let (failure, watch) = (FirstFailure(), LibraryTask.watch)
        defer { watch?.endActivity() }
        return try await withThrowingTaskGroup(of: (Int, Base.Output).self) { group in
            // Captured, or the closure leaves the caller's actor.
            _ = isolation
            // The end of the group returns by way of the pool, out of the test kit's sight.
            defer { watch?.beginActivity() }
            do {
                return try await gather(inputs, progress, failure, watch, from: &group, isolation: isolation)
            } catch {
                // Awaited here, and not at the end of the group, where the test kit would miss their arrival.
                group.cancelAll()
                while !group.isEmpty { _ = try? await next(from: &group, watch, isolation: isolation) }
                throw error
            }
        }
    }

    private func gather(
        _ inputs: [Base.Input], _ progress: GroupProgress?, _ failure: FirstFailure, _ watch: (any ActivityTracker)?,
        from group: inout Group, isolation: isolated (any Actor)?
    ) async throws -> [Base.Output] {
        var outputs = [Base.Output?](repeating: nil, count: inputs.count)
        var started = 0
        // A request may fail in the turn in which it starts.
        while started < min(limit, inputs.count), failure.error == nil {
            try Task.checkCancellation()
            start(inputs[started], started, progress, failure, watch, in: &group, isolation: isolation)
            started += 1
        }
        while let (index, output) = try await next(from: &group, watch, isolation: isolation) {
            outputs[index] = output
            guard started < inputs.count else { continue }
            // A request that has ignored the cancel must not start another one.
            try Task.checkCancellation()
            start(inputs[started], started, progress, failure, watch, in: &group, isolation: isolation)
            started += 1
        }
        return outputs.compactMap(\.self)
    }

    /// Waits for the next end. The ending task has reported its departure, and this is where it arrives.
    private func next(
        from group: inout Group, _ watch: (any ActivityTracker)?, isolation: isolated (any Actor)?
    ) async throws -> (Int, Base.Output)? {
        guard !group.isEmpty else { return nil }
        defer { watch?.endActivity() }
        return try await group.next(isolation: isolation)
    }

    private func start(
        _ input: Base.Input, _ index: Int, _ progress: GroupProgress?, _ failure: FirstFailure,
        _ watch: (any ActivityTracker)?, in group: inout Group, isolation: isolated (any Actor)?
    ) {
        let reporter = progress?.memberReporter(index)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil {
            group.addImmediateTask {
                _ = isolation
                defer { watch?.beginActivity() }
                return (index, try await perform(input, reporter, failure))
            }
        } else {
            group.addTask {
                _ = isolation
                defer { watch?.beginActivity() }
                return (index, try await perform(input, reporter, failure))
            }
        }
    }

    func perform(
        _ input: Base.Input, _ reporter: IntegrationProgress.Reporter?, _ failure: FirstFailure
    ) async throws -> Base.Output {
        // The task may begin after a failure. It then ends with that error, because it may end before the failed one.
        if let error = failure.error { throw error }
        try Task.checkCancellation()
        do {
            let output = try await base._request(input, reporter: reporter)
            reporter?.report(fraction: 1)
            return output
        } catch {
            failure.record(error)
            throw error
        }
    }
}

/// The first error of many requests, known before their task group has it.
final class FirstFailure: Sendable {
    private let first = Locked<(any Error)?>(nil)

    var error: (any Error)? { first.withLock { $0 } }

    func record(_ error: any Error) {
        first.withLock { $0 = $0 ?? error }
    }
}

extension DataProvider {
    /// Returns a provider of many inputs: an array of inputs to an array of outputs, in the same order.
    ///
    /// Each input is a request of its own on the caller's actor. The first failure cancels the running requests,
    /// prevents further ones, and is thrown once all have ended. Cancelling cancels every running request. An empty
    /// array gives an empty array.
    ///
    /// Requests start in the caller's turn where the platform can, but the result always comes in a later turn.
    ///
    /// The result is not a stream: of a provider that delivers many values each output is the last. Progress is the
    /// mean.
    ///
    /// - Parameter limit: The number of concurrent requests. Less than one counts as one.
    public func each(limit: Int = .max) -> EachDataProvider<Self> {
        EachDataProvider(self, limit: limit)
    }
}
