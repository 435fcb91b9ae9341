/// A group that hears every member out: a tuple of `Result`s. Made by ``GroupDataProvider/collectingResults()``.
///
/// All members run at the same time and to their end, whatever the others do. Only cancelling the request cancels them,
/// and makes it throw `CancellationError` once all of them have ended. A member that cancels itself is a failure like
/// any other.
public struct CollectingGroupDataProvider<each Member: DataProvider>: DataProvider {
    @usableFromInline let group: GroupDataProvider<repeat each Member>

    /// Makes a group that collects the results of another one's members.
    @inlinable
    public init(_ group: GroupDataProvider<repeat each Member>) {
        self.group = group
    }

    /// Asks all members at the same time, and answers when the last of them has ended.
    @inlinable
    public func request(_ input: (repeat (each Member).Input)) async throws -> (
        repeat Result<(each Member).Output, any Error>
    ) {
        let link = _TaskGroupLink(isCollecting: true)
        let tasks = group.start(repeat each input, linkedBy: link, isolation: #isolation)
        guard !link.isFulfilled else {
            return await (repeat (each tasks).ended())
        }
        link.beginWait()
        defer { link.endWait() }
        let results = await LibraryTask.hearingCancel {
            await (repeat (each tasks).ended())
        } onCancel: {
            link.cancel()
        }
        try Task.checkCancellation()
        return results
    }

    /// The members.
    public var structure: ProviderStructure { .group(group.memberStructures, named: "group, collecting results") }
}
