/// A type-erased provider.
///
/// Prefer `some DataProvider<Input, Output>`. Erase where providers of different types share one variable. An erased
/// stream is still a stream. Providers may be erased and wrapped in a loop, as often as needed.
public struct AnyDataProvider<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private let owner: ErasedBaseOwner<Input, Output>

    /// The erased provider.
    public var base: any DataProvider<Input, Output> { owner.erased.base }

    /// Erases a provider. An erased provider is not wrapped again.
    public init(_ base: some DataProvider<Input, Output>) {
        if let erased = base as? AnyDataProvider<Input, Output> {
            self = erased
        } else {
            owner = ErasedBaseOwner(ErasedBase(base))
        }
    }

    public func request(_ input: Input) async throws -> Output { try await base.request(input) }
    public func values(for input: Input) -> ProviderValues<Output> { ProviderValues(of: base, for: input) }
    public var structure: ProviderStructure { base.structure }
    public var deliversMany: Bool { owner.erased.deliversMany }
}

private final class ErasedBase<Input: Sendable, Output: Sendable>: Sendable {
    let base: any DataProvider<Input, Output>
    let deliversMany: Bool

    init(_ base: some DataProvider<Input, Output>) {
        self.base = base
        deliversMany = base.stream != nil
    }
}

/// Holds an erased provider, and releases it without recursion: a provider that was erased and wrapped in a loop is a
/// chain longer than the stack.
///
/// Requests read the unowned reference, so that they don't take the lock. Only the end of the owner does.
private final class ErasedBaseOwner<Input: Sendable, Output: Sendable>: Sendable {
    unowned let erased: ErasedBase<Input, Output>
    private let held: Locked<(any Sendable)?>

    init(_ erased: ErasedBase<Input, Output>) {
        self.erased = erased
        held = Locked(erased)
    }

    deinit {
        var last = held.withLock { $0.take() }
        DeferredRelease.release(&last)
    }
}

extension DataProvider {
    /// Returns this provider with its type erased.
    public func eraseToAnyDataProvider() -> AnyDataProvider<Input, Output> { AnyDataProvider(self) }
}
