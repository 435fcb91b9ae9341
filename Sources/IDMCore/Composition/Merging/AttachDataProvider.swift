import Synchronization

/// A provider with a side provider that doesn't affect the result. Made by ``DataProvider/attached(_:)``.
public struct AttachDataProvider<Base: DataProvider, Side: DataProvider>: StreamDataProvider
where Side.Input == Base.Input {
    let base: Base
    let side: Side

    init(_ base: Base, side: Side) {
        self.base = base
        self.side = side
        AmbientValues.uses.add(1, ordering: .relaxed)
    }

    public func request(_ input: Base.Input) async throws -> Base.Output {
        let sideTask = startSide(input)
        return try await LibraryTask.reactingToCancel {
            try await base.request(input)
        } onCancel: {
            sideTask?.cancel()
        }
    }

    /// The values of the base. The side provider is asked once, with the first of them.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var values = ProviderValues(of: base, for: input).makeAsyncIterator()
            var running: SideRequest?
            return { isolation in
                let request = running ?? SideRequest(startSide(input))
                running = request
                do {
                    let value = try await LibraryTask.reactingToCancel {
                        try await values.next(isolation: isolation)
                    } onCancel: {
                        request.cancel()
                    }
                    if value == nil { request.leave() }
                    return value
                } catch {
                    request.leave()
                    throw error
                }
            }
        }
    }

    public var structure: ProviderStructure {
        .branches("attached", ["answers": base.structure, "beside it": side.structure])
    }
    public var deliversMany: Bool { base.stream != nil }

    /// Starts the side request. Does nothing if the caller's task is cancelled.
    private func startSide(_ input: Base.Input) -> Task<Void, Never>? {
        guard !Task.isCancelled else { return nil }
        return SideRequests.start {
            guard !Task.isCancelled else { return }
            _ = try? await IntegrationProgress.Reporter.unbind { try await side.request(input) }
        }
    }
}

/// The side requests of a composition. Cancelled with its task, also after the base that started them has answered.
///
/// Bound by compositions that continue after their base has answered or failed: sequences, maps, groups, fallbacks and
/// retries. Nested ones share the set of the outermost.
@usableFromInline
final class SideRequests: Sendable {
    @TaskLocal static var current: SideRequests?

    private struct State {
        /// Nil stands for a request that is about to start.
        var tasks: [Int: Task<Void, Never>?] = [:]
        var lastID = 0
        var isCancelled = false
    }

    private let state = Locked(State())

    /// Runs a composition on the caller's actor, with a set that is cancelled with the current task.
    @usableFromInline
    static func scope<Value>(
        isolation: isolated (any Actor)? = #isolation, _ composition: () async throws -> Value
    ) async throws -> Value {
        guard AmbientValues.areUsed, current == nil else { return try await composition() }
        let requests = SideRequests()
        return try await LibraryTask.reactingToCancel {
            try await requests.bind(composition)
        } onCancel: {
            requests.cancel()
        }
    }

    /// Runs a composition on the caller's actor, with this set for its side requests.
    @usableFromInline
    func bind<Value>(
        isolation: isolated (any Actor)? = #isolation, _ composition: () async throws -> Value
    ) async throws -> Value {
        try await LibraryTask.binding(Self.$current, to: self, composition)
    }

    /// Starts work in a later turn and off the caller's actor, so that it can't even delay the actor. Adds it to the
    /// ambient set, if there is one.
    static func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard let requests = current else { return LibraryTask.startLater { _ in await work() } }
        let id = requests.state.withLock { state in
            state.lastID += 1
            state.tasks[state.lastID] = .some(nil)
            return state.lastID
        }
        let task = LibraryTask.startLater { _ in
            await work()
            _ = requests.state.withLock { $0.tasks.removeValue(forKey: id) }
        }
        let isCancelled = requests.state.withLock { state in
            if state.tasks[id] != nil { state.tasks[id] = .some(task) }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        return task
    }

    func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            return state.tasks.values.compactMap(\.self)
        }
        for task in tasks { task.cancel() }
    }
}

/// The side request of a stream. Cancelled when the stream is released before its end: a consumer that is cancelled
/// between two values doesn't await the next one, which is the only sign of it.
private final class SideRequest: Sendable {
    private let task: Task<Void, Never>?
    private let hasLeft = Atomic(false)

    init(_ task: Task<Void, Never>?) { self.task = task }

    deinit { if !hasLeft.load(ordering: .relaxed) { cancel() } }

    func cancel() { task?.cancel() }

    /// The stream has ended, and the side request runs to its end.
    func leave() { hasLeft.store(true, ordering: .relaxed) }
}

extension DataProvider {
    /// Returns this provider with a side provider that gets the same input: to log, to warm up a cache, to notify a
    /// server.
    ///
    /// The side provider can't affect the result, its time, its progress or its errors. It runs off the caller's actor in
    /// a task of its own, and its answer and errors are discarded. It is asked once for each request, also if this
    /// provider then fails, but not in a task that is already cancelled.
    ///
    /// Cancelling the request, or a composition that it is part of, cancels both; so does leaving a stream before its
    /// end. Otherwise the side provider runs to its end.
    public func attached<Side: DataProvider>(
        _ side: Side
    ) -> AttachDataProvider<Self, Side> where Side.Input == Input {
        AttachDataProvider(self, side: side)
    }
}
