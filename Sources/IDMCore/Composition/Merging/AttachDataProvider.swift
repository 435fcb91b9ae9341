import Synchronization

/// A provider with another one beside it that has no say in the result. Made by ``DataProvider/attached(_:)``.
public struct AttachDataProvider<Base: DataProvider, Side: DataProvider>: StreamDataProvider
where Side.Input == Base.Input {
    private let base: Base
    private let side: Side

    /// Makes a provider that asks the side provider whenever it asks the base.
    public init(_ base: Base, side: Side) {
        self.base = base
        self.side = side
    }

    /// Asks both, and answers with what the base does.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        let sideTask = startSide(input)
        return try await LibraryTask.hearingCancel {
            try await base.request(input)
        } onCancel: {
            sideTask?.cancel()
        }
    }

    /// The values of the base. The side provider is asked once, with the first of them.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            AttachCursor(
                provider: self, input: input, values: ProviderValues(of: base, for: input).makeAsyncIterator())
        }
    }

    /// The base, and the provider beside it.
    public var structure: ProviderStructure {
        .branches("attached", ["answers": base.structure, "beside it": side.structure])
    }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// Asks the side provider. A task that is cancelled doesn't, neither the caller's nor the side's own.
    fileprivate func startSide(_ input: Base.Input) -> Task<Void, Never>? {
        guard !Task.isCancelled else { return nil }
        // In its own turn and off the caller's actor, so that it can't even hold the actor up.
        return LibraryTask.startLater { _ in
            guard !Task.isCancelled else { return }
            _ = try? await IntegrationProgress.Reporter.unbind { try await side.request(input) }
        }
    }
}

private struct AttachCursor<Base: DataProvider, Side: DataProvider>: ValueCursor where Side.Input == Base.Input {
    let provider: AttachDataProvider<Base, Side>
    let input: Base.Input
    var values: ProviderValues<Base.Output>.Iterator
    var side: SideRequest?

    mutating func next(isolation: isolated (any Actor)?) async throws -> Base.Output? {
        let side = side ?? SideRequest(provider.startSide(input))
        self.side = side
        do {
            let value = try await LibraryTask.hearingCancel {
                try await values.next(isolation: isolation)
            } onCancel: {
                side.cancel()
            }
            if value == nil { side.leave() }
            return value
        } catch {
            side.leave()
            throw error
        }
    }
}

/// The request beside a stream. Cancelled when the stream is let go of before its end: whoever is cancelled between two
/// values doesn't ask for the next one, and has no other way to tell.
private final class SideRequest: Sendable {
    private let task: Task<Void, Never>?
    private let isLeft = Atomic(false)

    init(_ task: Task<Void, Never>?) {
        self.task = task
    }

    deinit {
        if !isLeft.load(ordering: .relaxed) { cancel() }
    }

    func cancel() { task?.cancel() }

    /// The stream is over, and this runs to its end.
    func leave() { isLeft.store(true, ordering: .relaxed) }
}

extension DataProvider {
    /// This provider with another one beside it, asked with the same input: to log, to warm a cache up, to tell a
    /// server.
    ///
    /// The side provider can't affect the result, its time, its progress or its errors: it is asked off the caller's
    /// actor, in a task of its own, and its answer and its errors aren't heard. It is asked once for each request, also
    /// if this provider then fails. Cancelling the request cancels both, and so does leaving a stream before its end;
    /// once this provider has answered or failed, the other one is left to run to its end. In a task that is cancelled
    /// already it isn't asked.
    public func attached<Side: DataProvider>(
        _ side: Side
    ) -> AttachDataProvider<Self, Side> where Side.Input == Input {
        AttachDataProvider(self, side: side)
    }
}
