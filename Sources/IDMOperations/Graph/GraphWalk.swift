import IDMCore

/// One run of a graph: starts its nodes in tasks of their own, and gathers what comes of them.
///
/// The walk itself is one task that waits for events. Whatever ends a node or changes what may start sends one.
final class GraphWalk<Input: Sendable>: GraphValues {
    private struct State {
        var schedule: GraphSchedule
        var results: OperationGraphResults
        /// Of those nodes that run.
        var controls: [Int: PauseControl] = [:]
        var stop: Stop?
    }

    /// What has stopped the other nodes.
    private enum Stop {
        case failure(node: Int, any Error)
        /// A node has brought it about by itself.
        case cancel(CancelReason)
    }

    private let graph: OperationGraph<Input>
    private let state: Locked<State>
    /// One event stands for as many as come before it is looked at.
    private let events: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init(_ graph: OperationGraph<Input>, _ schedule: GraphSchedule) {
        self.graph = graph
        state = Locked(
            State(
                schedule: schedule, results: OperationGraphResults(nodes: graph.nodes.map(\.node))))
        (events, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: The walk

    /// Runs all nodes, and returns when the last of them has ended.
    ///
    /// On no actor, as the nodes run: with each of their ends it may go on, and from there it knows of that at once.
    func perform(_ input: Input) async throws -> OperationGraphResults {
        try await LibraryTask.elsewhere { try await self.walk(input) }
    }

    @concurrent
    private func walk(_ input: Input) async throws -> OperationGraphResults {
        try Task.checkCancellation()
        let progress = GroupProgress.current(count: graph.nodes.count)
        let outer = PauseControl.current
        let observation = outer?.observe { [weak self] in self?.follow(outer) }
        follow(outer)
        await withDiscardingTaskGroup { group in
            startNodes(&group, input, progress)
            for await _ in events {
                if isToStop { group.cancelAll() }
                startNodes(&group, input, progress)
                if isOver { break }
            }
        }
        withExtendedLifetime(observation) {}
        try Task.checkCancellation()
        let (results, stop) = state.withLock { ($0.results, $0.stop) }
        switch stop {
        case nil: return results
        case .failure(let node, let error):
            throw OperationGraphError.failed(graph.nodes[node].node.name, because: error, results: results)
        // No failure: whoever repeats failures isn't to repeat what nobody wants.
        case .cancel(let reason): throw IntegrationError.cancelled(reason)
        }
    }

    /// What has come of the nodes by now.
    var results: OperationGraphResults { state.withLock { $0.results } }

    private var isOver: Bool { state.withLock { $0.schedule.isOver } }
    private var isToStop: Bool { state.withLock { $0.stop != nil } }

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
            state.controls[node] = control
            return (node, control)
        }
    }

    private func run(_ index: Int, _ control: PauseControl, _ input: Input, _ progress: GroupProgress?) async {
        var outcome = await ask(index, control, input, progress?.memberReporter(index))
        do {
            // A failure is held back as well: it would stop the others, or have them skipped.
            if outcome != nil { try await control.waitWhilePaused() }
        } catch {
            if case .success = outcome { outcome = .cancelled(.cancelled) }
        }
        let ended = end(index, outcome)
        progress?.finish(ended)
    }

    /// Asks a node. Nil if the run has been stopped before the node's task came to run.
    private func ask(
        _ index: Int, _ control: PauseControl, _ input: Input, _ reporter: IntegrationProgress.Reporter?
    ) async -> OperationGraphResults.Outcome? {
        guard !Task.isCancelled else { return nil }
        do {
            let value = try await control.bind {
                try await reporter.ambient { try await self.graph.nodes[index].request(input, self) }
            }
            return .success(value)
        } catch {
            return CancelReason(error).map { .cancelled($0) } ?? .failure(error)
        }
    }

    /// Takes note of what came of a node. Returns the nodes that the run is through with by that: those as well that
    /// are skipped. None of them if the run has been stopped.
    private func end(_ index: Int, _ outcome: OperationGraphResults.Outcome?) -> [Int] {
        defer { changed.yield() }
        return state.withLock { state in
            state.controls[index] = nil
            state.results.set(outcome, at: index)
            let skipped = state.schedule.end(index, hasSucceeded: outcome?.value != nil)
            let stop: Stop? =
                switch outcome {
                case .failure(let error): .failure(node: index, error)
                case .cancelled(let reason): .cancel(reason)
                case .success, nil: nil
                }
            guard outcome != nil else { return [] }
            guard graph.rule == .stop, let stop else { return [index] + skipped }
            if state.stop == nil {
                state.stop = stop
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

extension IntegrationProgress.Reporter? {
    /// Runs an operation whose reports go to this reporter, if there is one.
    fileprivate func ambient<R>(_ operation: () async throws -> R) async rethrows -> R {
        guard let self else { return try await operation() }
        return try await self.ambient { try await operation() }
    }
}
