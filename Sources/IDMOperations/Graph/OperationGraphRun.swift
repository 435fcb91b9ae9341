import IDMCore

/// A run of a graph that goes on by itself: it can be paused, cancelled and awaited.
///
/// The run may be dropped; that neither cancels nor stops it. Handlers and progress are those of a call of the graph,
/// as of any provider: `Integrator(graph).prepareCall(input).onProgress { … }.call()`, or of a
/// ``DataProviderOperation`` around it, which pauses as a whole.
public struct OperationGraphRun: Sendable {
    private let task: IntegrationTask<OperationGraphResults>
    private let control: PauseControl
    private let pauseNode: @Sendable (_ node: any OperationGraphNode, _ isPaused: Bool) -> Void
    private let come: @Sendable () -> OperationGraphResults

    init<Input>(_ graph: OperationGraph<Input>, _ input: Input) {
        let walk = Result { GraphWalk(graph, try graph.schedule()) }
        come = { (try? walk.get())?.results ?? OperationGraphResults(nodes: graph.nodes.map(\.node)) }
        let integrator = Integrator(
            ClosureDataProvider<Void, OperationGraphResults> {
                try await walk.get().perform(input)
            })
        let control = PauseControl()
        self.control = control
        task = control.bind { integrator.prepareCall().call(isolation: nil) }
        // The task alone holds the integrator, and without that the run would be cancelled.
        task.hold()
        pauseNode = { node, isPaused in
            if graph.owns(node) { try? walk.get().setPaused(isPaused, node.key.index) }
        }
    }

    /// What came of the nodes, as soon as the last of them has ended. Throws what ``OperationGraph/request(_:)`` does,
    /// and `CancellationError` if the awaiting task is cancelled meanwhile, which leaves the run alone.
    public var results: OperationGraphResults {
        get async throws { try await task.value }
    }

    /// What has come of the nodes by now, also when the run has failed or was cancelled. A node that hasn't ended
    /// counts among those that were skipped.
    public var resultsSoFar: OperationGraphResults { come() }

    /// Cancels every node. ``results`` then throws `IntegrationError.cancelled`, and ``resultsSoFar`` has what came
    /// before.
    public func cancel() {
        task.cancel()
    }

    // MARK: Pausing

    /// Whether the run is paused as a whole.
    public var isPaused: Bool { control.isPaused }

    /// Pauses the run: no node starts, and those that run pause if they can, or hold back what they answer.
    public func pause() {
        control.pause()
    }

    /// Lets the run go on. A node that was paused by itself stays paused.
    public func resume() {
        control.resume()
    }

    /// Pauses one node: it doesn't start, or pauses if it can, or holds back what it answers. A node of another graph,
    /// or one that has ended, is left alone.
    public func pause(_ node: some OperationGraphNode) {
        pauseNode(node, true)
    }

    /// Lets a node go on that was paused by itself.
    public func resume(_ node: some OperationGraphNode) {
        pauseNode(node, false)
    }
}
