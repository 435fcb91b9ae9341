/// Providers that run at the same time. Inputs and outputs are flat tuples.
///
/// ```swift
/// let profile = UserProvider() >><< FriendsProvider() >><< PhotosProvider()
/// let (user, friends, photos) = try await profile.request((id, id, .newest))
/// ```
///
/// A group of any number of members is `GroupDataProvider(a, b, c, …)`. Each member runs in a task of its own. On an
/// actor, the members start on it in the caller's turn where the platform can; if all of them answer at once, so does
/// the group. On no actor they run in parallel.
///
/// A group fails fast: the first failure cancels all members, and is thrown once all of them have ended. A member
/// that ignores its cancellation delays the failure; give it a ``DataProvider/timeout(_:clock:)``. Cancelling the
/// request cancels every member. A member that has not started before a failure or a cancel is not asked.
/// ``collectingResults()`` returns the result of each member instead.
///
/// A group is not a stream: of a member that delivers many values it takes the last. Its progress is the mean of its
/// members' progress.
public struct GroupDataProvider<each Member: DataProvider>: DataProvider {
    /// The members, in the order of the tuples.
    public let members: (repeat each Member)

    /// Creates a group of one or more members.
    public init(_ members: repeat each Member) { self.members = (repeat each members) }

    /// Makes a group without members ambiguous, and so an error. Can't be called, because its arguments don't exist.
    public init(_ members: repeat _GroupNeedsAMember<each Member>) {
        self.members = (repeat (each members).member)
    }

    @inlinable
    public func request(_ input: (repeat (each Member).Input)) async throws -> (repeat (each Member).Output) {
        let group = TaskGroupLink(count: count, isCollecting: false)
        return try await LibraryTask.reactingToCancel {
            let tasks = start(repeat each input, in: group, isolation: #isolation)
            defer { group.endWait() }
            do {
                return try await (repeat (each tasks).value)
            } catch {
                // The other members have been cancelled, and must end too.
                repeat _ = await (each tasks).ended()
                throw group.failure ?? error
            }
        } onCancel: {
            group.cancel()
        }
    }

    public var structure: ProviderStructure { .group(memberStructures) }

    var memberStructures: [ProviderStructure] {
        var structures: [ProviderStructure] = []
        repeat structures.append((each members).structure)
        return structures
    }

    @inlinable var count: Int {
        var count = 0
        for _ in repeat each members { count += 1 }
        return count
    }

    /// Starts all members.
    @inlinable
    func start(
        _ input: repeat (each Member).Input, in group: TaskGroupLink, isolation: isolated (any Actor)?
    ) -> (repeat Task<(each Member).Output, any Error>) {
        let count = count
        let progress = GroupProgress.current(count: count)
        var started = 0
        func reporter() -> IntegrationProgress.Reporter? {
            started += 1
            return progress?.memberReporter(started - 1)
        }
        let tasks =
            (repeat (each members).start(
                each input, reporter: reporter(), in: group, isLast: started == count, isolation: isolation))
        var cancellable: [any CancellableTask] = []
        cancellable.reserveCapacity(count)
        for task in repeat each tasks { cancellable.append(task) }
        group.add(cancellable)
        return tasks
    }
}

/// An argument that doesn't exist: a group needs at least one member.
public enum _GroupNeedsAMember<Member> {
    /// Never called.
    public var member: Member { switch self {} }
}

extension GroupDataProvider: _GroupOfDataProviders {
    public func _collecting() -> CollectingGroupDataProvider<repeat each Member> {
        CollectingGroupDataProvider(group: self)
    }
}

/// The protocol of ``GroupDataProvider`` alone.
///
/// Methods in an extension of a type with a parameter pack have, in the middle of an expression, tuples that the type
/// checker doesn't take for tuples (Swift 6.3). Those of a protocol don't.
public protocol _GroupOfDataProviders: DataProvider {
    associatedtype _Collecting: DataProvider

    /// Returns a group with the same members that collects their results.
    func _collecting() -> _Collecting
}

extension _GroupOfDataProviders {
    /// Returns this group as one provider, to which `>><<` adds a member beside the group instead of one in it.
    ///
    /// ```swift
    /// let nested = (a >><< b).grouped() >><< c  // ((A, B), C) instead of (A, B, C)
    /// ```
    public func grouped() -> GroupedDataProvider<Self> { GroupedDataProvider(group: self) }

    /// Returns a group that answers with a `Result` for each member. See ``CollectingGroupDataProvider``.
    public func collectingResults() -> _Collecting { _collecting() }
}
