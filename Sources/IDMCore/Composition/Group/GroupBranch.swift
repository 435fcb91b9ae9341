public import Synchronization

/// One member of a group in one request: runs in a child task, and keeps what the member answered. Where results are
/// collected it keeps a failure as well, instead of failing the group.
@usableFromInline
final class GroupBranch<Member: DataProvider>: Sendable {
    @usableFromInline let member: Member
    @usableFromInline let reporter: IntegrationProgress.Reporter?
    @usableFromInline let result = Mutex<Result<Member.Output, any Error>?>(nil)
    @usableFromInline let isCollecting: Bool

    @inlinable
    init(_ member: Member, reporter: IntegrationProgress.Reporter?, isCollecting: Bool = false) {
        self.member = member
        self.reporter = reporter
        self.isCollecting = isCollecting
    }

    /// Starts the member as a child of the group, on the caller's actor, in this turn where the platform can.
    @inlinable
    func start(
        _ input: Member.Input, in group: inout ThrowingDiscardingTaskGroup<any Error>,
        isolation: isolated (any Actor)?
    ) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            group.addImmediateTask {
                _ = isolation
                try await self.run(input)
            }
        } else {
            group.addTask {
                _ = isolation
                try await self.run(input)
            }
        }
    }

    @inlinable
    func run(_ input: Member.Input) async throws {
        do {
            let output = try await member._request(input, reporter: reporter)
            result.withLock { $0 = .success(output) }
        } catch {
            guard isCollecting else { throw error }
            result.withLock { $0 = .failure(error) }
        }
        reporter?.report(fraction: 1)
    }

    /// What the member answered.
    @inlinable
    func output() throws -> Member.Output { try ended().get() }

    /// How the member ended. Throws if it hasn't, which a group that ran to its end rules out.
    @inlinable
    func ended() throws -> Result<Member.Output, any Error> {
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return result
    }
}

/// Runs branches at the same time. Throws the first failure once all have ended, and cancels the others meanwhile.
@inlinable
func runGroup<each Member: DataProvider>(
    of branches: repeat GroupBranch<each Member>, inputs: repeat (each Member).Input,
    isolation: isolated (any Actor)?
) async throws {
    try await withThrowingDiscardingTaskGroup { group in
        // Captured, or the closure leaves the caller's actor.
        _ = isolation
        repeat (each branches).start(each inputs, in: &group, isolation: isolation)
    }
}
