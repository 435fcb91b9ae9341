import IDMCore
import Synchronization

/// One run of a graph: starts its nodes in tasks of their own, and gathers what comes of them.
///
/// The walk itself is one task that waits for events. Whatever ends a node or changes what may start sends one.
final class GraphWalk<Input: Sendable>: GraphValues {
    private struct State {
        var schedule: GraphSchedule
        var results: OperationGraphResults
        /// Of those nodes that run.
        var controls: [Int: PauseControl] = [:]
        var failure: (node: Int, error: any Error)?
    }

    private let graph: OperationGraph<Input>
    private let state: Mutex<State>
    /// One event stands for as many as come before it is looked at.
    private let events: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init(_ graph: OperationGraph<Input>, _ schedule: GraphSchedule) {
        self.graph = graph
        state = Mutex(
            State(
                schedule: schedule, results: OperationGraphResults(nodes: graph.nodes.map(\.node))))
        (events, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: The walk

    /// Runs all nodes, and returns when the last of them has ended.
    func perform(_ input: Input, isolation: isolated (any Actor)?) async throws -> OperationGraphResults {
        try Task.checkCancellation()
        let progress = GroupProgress.current(count: graph.nodes.count)
        let outer = PauseControl.current
        let observation = outer?.observe { [weak self] in self?.follow(outer) }
        follow(outer)
        await withDiscardingTaskGroup { group in
            // Captured, or the closure leaves the caller's actor.
            _ = isolation
            startNodes(&group, input, progress)
            for await _ in events {
                if isToStop { group.cancelAll() }
                startNodes(&group, input, progress)
                if isOver { break }
            }
        }
        withExtendedLifetime(observation) {}
        try Task.checkCancellation()
        let (results, failure) = state.withLock { ($0.results, $0.failure) }
        if let failure {
            throw OperationGraphError.failed(
                graph.nodes[failure.node].node.name, because: failure.error, results: results)
        }
        return results
    }

    private var isOver: Bool { state.withLock { $0.schedule.isOver } }
    private var isToStop: Bool { state.withLock { $0.failure != nil } }

    private func startNodes(_ group: inout DiscardingTaskGroup, _ input: Input, _ progress: GroupProgress?) {
        while let (node, control) = nextNode() {
            group.addTask { await self.run(node, control, input, progress) }
        }
        if isOver { changed.yield() }
    }

    private func nextNode() -> (Int, PauseControl)? {
        state.withLock { state in
            guard let node = state.schedule.next() else { return nil }
            let control = PauseControl()
            if state.schedule.isPaused(node) { control.pause() }
            state.controls[node] = control
            return (node, control)
        }
    }

    private func run(_ index: Int, _ control: PauseControl, _ input: Input, _ progress: GroupProgress?) async {
        var outcome = await ask(index, control, input, progress?.memberReporter(index))
        do {
            // A failure is held back as well: it would stop the others, or have them skipped.
            try await control.waitWhilePaused()
        } catch {
            if case .success = outcome { outcome = .cancelled(.cancelled) }
        }
        let ended = end(index, outcome)
        progress?.finish(ended)
    }

    private func ask(
        _ index: Int, _ control: PauseControl, _ input: Input, _ reporter: IntegrationProgress.Reporter?
    ) async -> OperationGraphResults.Outcome {
        do {
            // The run may have been stopped before the node's task came to run.
            try Task.checkCancellation()
            let value = try await control.bind {
                try await reporter.ambient { try await self.graph.nodes[index].request(input, self) }
            }
            return .success(value)
        } catch {
            return CancelReason(error).map { .cancelled($0) } ?? .failure(error)
        }
    }

    /// Takes note of what came of a node. Returns the nodes that the run is through with by that: those as well that
    /// are skipped. None of them if the run fails.
    private func end(_ index: Int, _ outcome: OperationGraphResults.Outcome) -> [Int] {
        defer { changed.yield() }
        return state.withLock { state in
            state.controls[index] = nil
            state.results.set(outcome, at: index)
            let skipped = state.schedule.end(index, hasSucceeded: outcome.value != nil)
            guard graph.rule == .stop, let error = outcome.stoppingError else { return [index] + skipped }
            if state.failure == nil {
                state.failure = (index, error)
                state.schedule.stop()
            }
            return []
        }
    }

    /// The value of a node that another one depends on: it has succeeded before that one is asked.
    func value<Output>(of node: OperationNode<Output>) throws -> Output {
        guard let value = state.withLock({ $0.results[node] }) else {
            throw OperationGraphError.foreignNode(node.name)
        }
        return value
    }

    // MARK: Pausing

    /// Does as the control around the whole graph does.
    private func follow(_ outer: PauseControl?) {
        guard let outer else { return }
        change { state in
            // Asked under the lock: of two changes that are made at once, either may call back first.
            if outer.isPaused { state.schedule.pause() } else { state.schedule.resume() }
        }
    }

    /// Pauses or resumes one node.
    func setPaused(_ isPaused: Bool, _ index: Int) {
        change { state in
            if isPaused { state.schedule.pause(index) } else { state.schedule.resume(index) }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let controls = state.withLock { state in
            body(&state)
            return state.controls
        }
        for (index, control) in controls { adjust(control, of: index) }
        changed.yield()
    }

    /// Pauses or resumes the control of a node. Not under the lock, because its observers are called; so it looks again
    /// until nobody else has changed what is wanted.
    private func adjust(_ control: PauseControl, of index: Int) {
        while true {
            let isToPause = state.withLock { $0.schedule.isPaused(index) }
            if control.isPaused == isToPause { return }
            if isToPause { control.pause() } else { control.resume() }
        }
    }
}

extension IntegrationOutcome {
    /// What stops the other nodes of a graph: the error, or the cancel that the node brought about by itself.
    fileprivate var stoppingError: (any Error)? {
        switch self {
        case .success: nil
        case .failure(let error): error
        case .cancelled(let reason): IntegrationError.cancelled(reason)
        }
    }
}

extension IntegrationProgress.Reporter? {
    /// Runs an operation whose reports go to this reporter, if there is one.
    fileprivate func ambient<R>(_ operation: () async throws -> R) async rethrows -> R {
        guard let self else { return try await operation() }
        return try await self.ambient { try await operation() }
    }
}
