/// Providers that all run at the same time. Inputs and outputs are flat tuples.
///
/// ```swift
/// let profile = UserProvider() >><< FriendsProvider() >><< PhotosProvider()
/// let (user, friends, photos) = try await profile.request((id, id, .newest))
/// ```
///
/// Any number of members: `GroupDataProvider(a, b, c, …)`. Each is asked on the caller's actor, in a task of its own.
///
/// A group fails fast: the first failure cancels the other members, and is thrown once all of them have ended. So a
/// member that ignores its cancellation holds the failure up; give it a ``DataProvider/timeout(_:clock:)``. Cancelling
/// the request cancels every member. ``collectingResults()`` is the way to hear of each member's failure.
///
/// A group is not a stream: of a member that delivers many values it takes the last. Its progress is the mean of its
/// members' progress.
public struct GroupDataProvider<each Member: DataProvider>: DataProvider {
    /// One input for each member.
    public typealias Input = (repeat (each Member).Input)
    /// One output for each member.
    public typealias Output = (repeat (each Member).Output)

    /// The members, in the order of the tuples.
    public let members: (repeat each Member)

    /// Makes a group of any number of members. A group of none answers with `()` at once.
    @inlinable
    public init(_ members: repeat each Member) {
        self.members = (repeat each members)
    }

    /// Asks all members at the same time, and answers when the last of them has.
    @inlinable
    public func request(_ input: Input) async throws -> Output {
        let progress = GroupProgress.current()
        let branches = (repeat GroupBranch(each members, reporter: progress?.addMember()))
        try await runGroup(of: repeat each branches, inputs: repeat each input, isolation: #isolation)
        return try (repeat (each branches).output())
    }
}

extension GroupDataProvider {
    /// This group as one provider, so that `>><<` adds a member beside it instead of one to it.
    @inlinable
    public func grouped() -> GroupedDataProvider<Self> {
        GroupedDataProvider(self)
    }

    /// This group with a `Result` for each member instead of a failure for all.
    @inlinable
    public func collectingResults() -> CollectingGroupDataProvider<repeat each Member> {
        CollectingGroupDataProvider(self)
    }
}
