import Synchronization

/// A provider that makes many requests of its base: `[Input]` to `[Output]`, in the same order. Made by
/// ``DataProvider/each(limit:)``.
public struct EachDataProvider<Base: DataProvider>: DataProvider {
    let base: Base
    let limit: Int

    public func request(_ inputs: [Base.Input]) async throws -> [Base.Output] {
        try await run(EachInputs(inputs), isolation: #isolation)
    }

    /// The base, with the number of concurrent requests.
    public var structure: ProviderStructure {
        .wrapping(base.structure, in: limit == .max ? "each" : "each, \(limit) at a time")
    }

    /// Runs as many workers as requests may run at once.
    ///
    /// Not a task group: a group searches the list of its tasks at each end, so that 25,000 requests that are cancelled
    /// take 15 seconds (benchmark row "each of 20,000, of which one fails").
    private func run(_ inputs: EachInputs<Base.Input>, isolation: isolated (any Actor)?) async throws -> [Base.Output] {
        let count = min(limit, inputs.values.count)
        let group = TaskGroupLink(count: count, isCollecting: false)
        return try await LibraryTask.reactingToCancel {
            let tasks = start(count, inputs, in: group, isolation: isolation)
            defer { group.endWait() }
            do {
                var outputs = [Base.Output?](repeating: nil, count: inputs.values.count)
                for task in tasks {
                    for (index, output) in try await task.value { outputs[index] = output }
                }
                // A cancel may have come before any worker took an input.
                try Task.checkCancellation()
                return outputs.compactMap(\.self)
            } catch {
                // The other workers have been cancelled, and must end too.
                for task in tasks { _ = await task.ended() }
                throw group.failure ?? error
            }
        } onCancel: {
            group.cancel()
        }
    }

    /// Starts the workers, as long as inputs are left and none has failed.
    private func start(
        _ count: Int, _ inputs: EachInputs<Base.Input>, in group: TaskGroupLink, isolation: isolated (any Actor)?
    ) -> [Task<EachWorker<Base>.Output, any Error>] {
        let worker = EachWorker(base: base, group: group)
        var tasks: [Task<EachWorker<Base>.Output, any Error>] = []
        while tasks.count < count, inputs.areLeft, group.isOpen {
            tasks.append(worker.start(inputs, reporter: nil, in: group, isLast: false, isolation: isolation))
        }
        for _ in tasks.count..<count { group.end() }
        group.add(tasks)
        return tasks
    }
}

/// The inputs of one request, taken one by one by its workers.
private final class EachInputs<Input: Sendable>: Sendable {
    let values: [Input]
    let progress: GroupProgress?
    private let nextIndex = Atomic(0)

    init(_ values: [Input]) {
        self.values = values
        progress = GroupProgress.current(count: values.count)
    }

    var areLeft: Bool { nextIndex.load(ordering: .relaxed) < values.count }

    func take() -> Int? {
        let index = nextIndex.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < values.count ? index : nil
    }
}

/// Makes requests one after another until no input is left. Answers with its outputs and their places.
private struct EachWorker<Base: DataProvider>: DataProvider {
    let base: Base
    let group: TaskGroupLink

    func request(_ inputs: EachInputs<Base.Input>) async throws -> [(Int, Base.Output)] {
        var outputs: [(Int, Base.Output)] = []
        while let index = inputs.take() {
            // A request that has ignored the cancel must not be followed by another one.
            try group.checkOpen()
            let reporter = inputs.progress?.memberReporter(index)
            outputs.append((index, try await base._request(inputs.values[index], reporter: reporter)))
            reporter?.report(fraction: 1)
        }
        return outputs
    }
}

extension DataProvider {
    /// Returns a provider of many inputs: an array of inputs to an array of outputs, in the same order.
    ///
    /// Each input is a request of its own on the caller's actor. The first failure cancels the running requests,
    /// prevents further ones, and is thrown once all have ended. Cancelling cancels every running request. An empty
    /// array gives an empty array.
    ///
    /// On an actor, requests start in the caller's turn where the platform can. If all of them answer at once, so does
    /// the whole.
    ///
    /// The result is not a stream: of a provider that delivers many values each output is the last. Progress is the
    /// mean.
    ///
    /// - Parameter limit: The number of concurrent requests. Less than one counts as one.
    public func each(limit: Int = .max) -> EachDataProvider<Self> {
        EachDataProvider(base: self, limit: max(limit, 1))
    }
}
