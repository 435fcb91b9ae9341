/// A group that hears every member out: a tuple of `Result`s. Made by ``GroupDataProvider/collectingResults()``.
///
/// All members run at the same time and to their end, whatever the others do. Only cancelling the request cancels them,
/// and makes it throw `CancellationError` once all of them have ended. A member that cancels itself is a failure like any
/// other.
public struct CollectingGroupDataProvider<each Member: DataProvider>: DataProvider {
    /// One input for each member.
    public typealias Input = (repeat (each Member).Input)
    /// One result for each member.
    public typealias Output = (repeat Result<(each Member).Output, any Error>)

    private let members: (repeat CollectingMember<each Member>)

    /// Makes a group that collects the results of another one's members.
    public init(_ group: GroupDataProvider<repeat each Member>) {
        members = (repeat CollectingMember(base: each group.members))
    }

    /// Asks all members at the same time, and answers when the last of them has ended.
    public func request(_ input: Input) async throws -> Output {
        let progress = GroupProgress.current()
        let branches = (repeat GroupBranch(each members, reporter: progress?.addMember()))
        try await runGroup(of: repeat each branches, inputs: repeat each input, isolation: #isolation)
        try Task.checkCancellation()
        return try (repeat (each branches).output())
    }
}

/// A member of a group that never fails: its failure is its answer.
struct CollectingMember<Base: DataProvider>: DataProvider {
    let base: Base

    func request(_ input: Base.Input) async throws -> Result<Base.Output, any Error> {
        do {
            return .success(try await base.request(input))
        } catch {
            return .failure(error)
        }
    }
}
