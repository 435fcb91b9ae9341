public import Observation

/// The state of a screen that shows what an integrator loads.
///
/// ```swift
/// struct Search: View {
///     let query: String
///     @State private var users = IntegrationState(
///         Integrator(UserDataProvider(), model: Users.self, executing: .latest))
///
///     var body: some View {
///         List(users.value?.names ?? [], id: \.self) { Text($0) }
///             .overlay { if users.isLoading { ProgressView() } }
///             .task(id: query) { await users.run(query) }
///     }
/// }
/// ```
///
/// The state shows the calls that it makes itself, and those that ``IntegrationCall/state(_:)`` attaches to it. A value
/// stays while it is loaded again. An older call never replaces what a newer one has shown. A cancelled call, and one
/// that never starts, change nothing but ``isLoading``.
///
/// The calls that it makes itself are cancelled when the state is released.
@MainActor
@Observable
public final class IntegrationState<Input: Sendable, Output: Sendable> {
    /// The phase of a state. A phase holds what a screen needs to show it.
    public enum Phase: Sendable {
        /// No call is running, and none has ended with a value or an error.
        case idle
        /// At least one call is running. The latest value stays until a call delivers a newer value.
        case loading(previous: Output?)
        /// No call is running, and the latest result is this value.
        case loaded(Output)
        /// No call is running, and the latest result is this error. The value before it stays.
        case failed(any Error, previous: Output?)
    }

    /// The phase: idle, loading, loaded or failed.
    public private(set) var phase: Phase
    /// The progress of the newest running call, if its provider reports progress. Nil when no call is running.
    public private(set) var progress: IntegrationProgress?
    /// The input of the newest ``load(_:keepingValue:)`` that the executing type didn't ignore. ``reload()`` uses it.
    public private(set) var input: Input?

    /// The latest value, also while a call is running and after a failure.
    public var value: Output? { phase.value }

    /// The error of the latest result, if that is a failure. Nil while a call is running.
    public var error: (any Error)? {
        if case .failed(let error, _) = phase { return error }
        return nil
    }

    /// True while a call is running.
    public var isLoading: Bool {
        if case .loading = phase { return true }
        return false
    }

    /// The integrator that makes the calls.
    public let integrator: Integrator<Input, Output>

    /// The phase once no call is running any more.
    @ObservationIgnored fileprivate var result: Phase
    /// The order of the newest call that has changed the result.
    @ObservationIgnored private var resultOrder = 0
    @ObservationIgnored private var lastOrder = 0
    /// The calls that have begun and not completed.
    @ObservationIgnored private var running: [RunningCall] = []
    /// The newest loads that may still be ignored, and the newest that wasn't.
    @ObservationIgnored private var loads: [(order: Int, input: Input)] = []
    /// The state's own calls that haven't ended.
    @ObservationIgnored private var tasks: [Int: IntegrationTask<Output>] = [:]

    private struct RunningCall {
        let call: ObjectIdentifier
        let order: Int
    }

    /// Creates a state.
    ///
    /// - Parameters:
    ///   - integrator: The integrator that makes the calls.
    ///   - value: The value to show before the first call, for example in a preview.
    public convenience init(_ integrator: Integrator<Input, Output>, initial value: Output? = nil) {
        self.init(integrator, phase: value.map { .loaded($0) } ?? .idle)
    }

    /// Creates a state in a phase, for previews and tests. Nothing is loaded.
    public init(_ integrator: Integrator<Input, Output>, phase: Phase) {
        self.integrator = integrator
        self.phase = phase
        result = if case .loading(let value) = phase { value.map { .loaded($0) } ?? .idle } else { phase }
    }

    deinit {
        for task in tasks.values { task.cancel(isolation: nil) }
    }

    // MARK: Loading

    /// Makes a call.
    ///
    /// - Parameters:
    ///   - input: The input of the call.
    ///   - keepingValue: Whether the value stays while the call is running. Pass false if it has nothing to do with the
    ///     new input; it is then removed when the call begins.
    @discardableResult
    public func load(_ input: Input, keepingValue: Bool = true) -> IntegrationTask<Output> {
        let order = nextOrder()
        loads.append((order, input))
        self.input = input
        let call = ShownCall(self, order: order, keepsValue: keepingValue)
        let task = integrator.prepareCall(input).shown(by: call).call()
        if !call.hasEnded { tasks[order] = task }
        return task
    }

    /// Makes a call that needs no input.
    @discardableResult
    public func load(keepingValue: Bool = true) -> IntegrationTask<Output> where Input == Void {
        load((), keepingValue: keepingValue)
    }

    /// Makes a call with the newest ``input`` again. Without an input nothing happens.
    @discardableResult
    public func reload() -> IntegrationTask<Output>? {
        // A state that needs no input always has one.
        (input ?? () as? Input).map { load($0) }
    }

    /// Makes a call with the newest ``input`` again, and waits until it has ended.
    ///
    /// If the awaiting task is cancelled the call continues, so a list that is updated while the user pulls it down
    /// doesn't cancel its own refresh.
    public func refresh() async { await reload()?.finish() }

    /// Makes a call, and waits until it has ended. Cancelling the awaiting task cancels the call.
    ///
    /// For `.task(id:)`: a new id, and a view that disappears, cancel the call.
    public func run(_ input: Input, keepingValue: Bool = true) async {
        guard !Task.isCancelled else { return }
        let task = load(input, keepingValue: keepingValue)
        await LibraryTask.reactingToCancel {
            await task.finish()
        } onCancel: {
            task.cancel(isolation: nil)
        }
        // The wait ended with the cancel; the call ends soon after, whatever its provider does.
        if Task.isCancelled { await Task { await task.finish() }.value }
    }

    /// Makes a call that needs no input, and waits until it has ended. Cancelling the awaiting task cancels the call.
    public func run(keepingValue: Bool = true) async where Input == Void {
        await run((), keepingValue: keepingValue)
    }

    /// Cancels the calls that this state has made. What it shows stays.
    public func cancel() {
        let cancelled = tasks
        tasks = [:]
        for task in cancelled.values { task.cancel() }
    }

    /// Cancels the calls that this state has made, and makes it idle. Other calls that have begun are no longer shown.
    public func reset() {
        resultOrder = nextOrder()
        (running, loads) = ([], [])
        (result, phase, progress, input) = (.idle, .idle, nil, nil)
        cancel()
    }

    // MARK: Events of shown calls

    fileprivate func nextOrder() -> Int {
        lastOrder += 1
        return lastOrder
    }

    fileprivate func begin(_ call: ShownCall<Input, Output>, order: Int) {
        running.append(RunningCall(call: ObjectIdentifier(call), order: order))
        loads.removeAll { $0.order < order }
        if !call.keepsValue { setResult(.idle, order: order) }
        progress = nil
        phase = .loading(previous: result.value)
    }

    fileprivate func show(progress: IntegrationProgress, order: Int) {
        if running.allSatisfy({ $0.order <= order }), !running.isEmpty { self.progress = progress }
    }

    fileprivate func setResult(_ newResult: Phase, order: Int) {
        guard order >= resultOrder else { return }
        (result, resultOrder) = (newResult, order)
        if !running.isEmpty { phase = .loading(previous: newResult.value) }
    }

    fileprivate func complete(_ call: ShownCall<Input, Output>, order: Int) {
        tasks[order] = nil
        guard let index = running.firstIndex(where: { $0.call == ObjectIdentifier(call) }) else { return }
        running.remove(at: index)
        if running.allSatisfy({ $0.order < order }) { progress = nil }
        if running.isEmpty { phase = result }
    }

    fileprivate func turnAway(order: Int, _ reason: CancelReason) {
        tasks[order] = nil
        guard reason == .ignored, loads.contains(where: { $0.order == order }) else { return }
        loads.removeAll { $0.order == order }
        input = loads.last?.input
    }
}

extension IntegrationState.Phase {
    /// The value of the phase, or the value before it.
    fileprivate var value: Output? {
        switch self {
        case .idle: nil
        case .loading(let previous), .failed(_, let previous): previous
        case .loaded(let value): value
        }
    }
}

/// A call that a state shows. Captured by the handlers of that call alone, so it also identifies the call.
@MainActor
private final class ShownCall<Input: Sendable, Output: Sendable> {
    private weak var state: IntegrationState<Input, Output>?
    /// The place among the calls of the state. A call of its own has it from the start, any other call, and one that is
    /// made again, from its beginning.
    private var order: Int?
    let keepsValue: Bool
    private var hasBegun = false
    private(set) var hasEnded = false

    init(_ state: IntegrationState<Input, Output>, order: Int?, keepsValue: Bool) {
        self.state = state
        self.order = order
        self.keepsValue = keepsValue
    }

    func begin() {
        guard let state else { return }
        let order = if let order, !hasBegun { order } else { state.nextOrder() }
        self.order = order
        hasBegun = true
        state.begin(self, order: order)
    }

    /// Shows an event of the call.
    func show(_ event: (_ state: IntegrationState<Input, Output>, _ order: Int) -> Void) {
        if let state, let order { event(state, order) }
    }

    func cancel(_ reason: CancelReason) {
        guard !hasBegun else { return }
        hasEnded = true
        if let order { state?.turnAway(order: order, reason) }
    }

    func complete() {
        hasEnded = true
        if let order { state?.complete(self, order: order) }
    }
}

extension IntegrationCall {
    /// Shows this call with a state too. The state is held weakly.
    @MainActor
    public consuming func state<Input>(_ state: IntegrationState<Input, Output>) -> IntegrationCall {
        shown(by: ShownCall(state, order: nil, keepsValue: true))
    }

    @MainActor
    fileprivate consuming func shown<Input>(by call: ShownCall<Input, Output>) -> IntegrationCall {
        onBeginning { call.begin() }
            .onProgress { progress in call.show { $0.show(progress: progress, order: $1) } }
            .onSuccess { value in call.show { $0.setResult(.loaded(value), order: $1) } }
            .onError { error in call.show { $0.setResult(.failed(error, previous: $0.result.value), order: $1) } }
            .onCancel { call.cancel($0) }
            .onCompletion { call.complete() }
    }
}
