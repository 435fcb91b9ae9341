public import Observation

/// What a screen shows of an integrator: loading or not, the last value, the last error.
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
///             .task(id: query) { users.load(query) }
///     }
/// }
/// ```
///
/// The state follows the calls that are made through it, in the order of the call contract. A value stays until a newer
/// one comes, so that a screen keeps what it shows while it loads again.
@MainActor
@Observable
public final class IntegrationState<Input: Sendable, Output: Sendable> {
    /// Where the calls stand.
    public enum Phase: Sendable, Hashable {
        /// No call is running, and there is no value.
        case idle
        /// At least one call is running.
        case loading
        /// No call is running, and there is a value: the last call to end succeeded, or was cancelled and left the
        /// value of one before it.
        case loaded
        /// No call is running, and the last one to end failed. The error is in ``IntegrationState/error``.
        case failed
    }

    /// Where the calls stand.
    public private(set) var phase = Phase.idle
    /// The last value.
    public private(set) var value: Output?
    /// The error of the last call to end, if it failed. Gone when a call begins.
    public private(set) var error: (any Error)?
    /// How far the running call has come, if it tells. Gone when a call begins or the last one ends.
    public private(set) var progress: IntegrationProgress?

    /// Whether a call is running.
    public var isLoading: Bool { phase == .loading }

    @ObservationIgnored private let integrator: Integrator<Input, Output>
    @ObservationIgnored private var running = 0
    @ObservationIgnored private var lastEnd = Phase.idle

    /// Makes a state that shows the calls made through it.
    public init(_ integrator: Integrator<Input, Output>) {
        self.integrator = integrator
    }

    /// Makes a call.
    @discardableResult
    public func load(_ input: Input) -> IntegrationTask<Output> {
        integrator.prepareCall(input).state(self).call()
    }

    /// Makes a call that needs no input.
    @discardableResult
    public func load() -> IntegrationTask<Output> where Input == Void {
        load(())
    }

    /// Cancels all calls of the integrator.
    public func cancel() {
        integrator.cancel()
    }

    fileprivate func begin() {
        running += 1
        phase = .loading
        error = nil
        progress = nil
    }

    fileprivate func take(progress: IntegrationProgress) {
        self.progress = progress
    }

    fileprivate func take(value: Output) {
        self.value = value
    }

    fileprivate func take(error: any Error) {
        self.error = error
    }

    /// Which runs of a call are about to end with an error. Others may end between what a run hears last and its end.
    fileprivate final class Failures {
        private var runs: Set<ObjectIdentifier?> = []

        func note() { runs.insert(HandlerContext.currentID) }
        func take() -> Bool { runs.remove(HandlerContext.currentID) != nil }
    }

    fileprivate func complete(hasFailed: Bool) {
        running -= 1
        lastEnd = hasFailed ? .failed : value == nil ? .idle : .loaded
        if !hasFailed { error = nil }
        guard running == 0 else { return }
        phase = lastEnd
        progress = nil
    }
}

extension IntegrationCall {
    /// Lets a state show this call too. The state is held weakly.
    @MainActor
    public consuming func state<Input>(_ state: IntegrationState<Input, Output>) -> IntegrationCall {
        let failures = IntegrationState<Input, Output>.Failures()
        return
            onBeginning { [weak state] in state?.begin() }
            .onProgress { [weak state] progress in state?.take(progress: progress) }
            .onSuccess { [weak state] value in state?.take(value: value) }
            .onError { [weak state] error in
                failures.note()
                state?.take(error: error)
            }
            .onCompletion { [weak state] in state?.complete(hasFailed: failures.take()) }
    }
}
