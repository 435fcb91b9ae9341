/// A group that answers with a `Result` for each member. Made by ``GroupDataProvider/collectingResults()``.
///
/// All members run at the same time and to their end, also if some of them fail. Cancelling the request cancels all of
/// them, and it throws `CancellationError` once they have ended. A member that throws a cancellation by itself has
/// failed like any other.
public struct CollectingGroupDataProvider<each Member: DataProvider>: DataProvider {
    let group: GroupDataProvider<repeat each Member>

    public func request(_ input: (repeat (each Member).Input)) async throws -> (
        repeat Result<(each Member).Output, any Error>
    ) {
        let link = TaskGroupLink(count: group.count, isCollecting: true)
        let results = await LibraryTask.reactingToCancel {
            let tasks = group.start(repeat each input, in: link, isolation: #isolation)
            defer { link.endWait() }
            return await (repeat (each tasks).ended())
        } onCancel: {
            link.cancel()
        }
        try Task.checkCancellation()
        return results
    }

    public var structure: ProviderStructure { .group(group.memberStructures, named: "group, collecting results") }
}

/// A group that stays one member wherever it is composed. Made by ``GroupDataProvider/grouped()``.
public struct GroupedDataProvider<Group: DataProvider>: DataProvider {
    /// The group.
    public let group: Group

    public func request(_ input: Group.Input) async throws -> Group.Output {
        try await group.request(input)
    }

    public var structure: ProviderStructure { group.structure }
}
