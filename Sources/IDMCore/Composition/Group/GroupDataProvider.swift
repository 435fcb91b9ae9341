/// Providers that all run at the same time. Inputs and outputs are flat tuples.
///
/// ```swift
/// let profile = UserProvider() >><< FriendsProvider() >><< PhotosProvider()
/// let (user, friends, photos) = try await profile.request((id, id, .newest))
/// ```
///
/// Any number of members: `GroupDataProvider(a, b, c, …)`. Each is asked on the caller's actor, in a task of its own,
/// in the caller's turn where the platform can. If then all members answer at once, so does the group. On no actor they
/// run beside each other, also where they compute.
///
/// A group fails fast: the first failure cancels the other members, and is thrown once all of them have ended. So a
/// member that ignores its cancellation holds the failure up; give it a ``DataProvider/timeout(_:clock:)``. Cancelling
/// the request cancels every member. A member whose turn to start comes after a failure or a cancel isn't asked at all.
/// ``collectingResults()`` is the way to hear of each member's failure.
///
/// A group is not a stream: of a member that delivers many values it takes the last. Its progress is the mean of its
/// members' progress.
public struct GroupDataProvider<each Member: DataProvider>: DataProvider {
    /// The members, in the order of the tuples.
    public let members: (repeat each Member)

    /// Makes a group of any number of members. A group of none answers with `()` at once.
    @inlinable
    public init(_ members: repeat each Member) {
        self.members = (repeat each members)
    }

    /// Asks all members at the same time, and answers when the last of them has.
    @inlinable
    public func request(_ input: (repeat (each Member).Input)) async throws -> (repeat (each Member).Output) {
        let link = _TaskGroupLink()
        let tasks = start(repeat each input, linkedBy: link, isolation: #isolation)
        guard !link.isFulfilled else {
            return try await (repeat (each tasks).value)
        }
        link.beginWait()
        defer { link.endWait() }
        do {
            return try await LibraryTask.hearingCancel {
                try await (repeat (each tasks).value)
            } onCancel: {
                link.cancel()
            }
        } catch {
            // The others are cancelled by now, and have to end as well.
            repeat _ = await (each tasks).ended()
            throw link.failure ?? error
        }
    }

    /// The members.
    public var structure: ProviderStructure { .group(memberStructures) }

    var memberStructures: [ProviderStructure] {
        var structures: [ProviderStructure] = []
        repeat structures.append((each members).structure)
        return structures
    }

    @inlinable
    func start(
        _ input: repeat (each Member).Input, linkedBy link: _TaskGroupLink, isolation: isolated (any Actor)?
    ) -> (repeat Task<(each Member).Output, any Error>) {
        let progress = GroupProgress.current()
        if let progress {
            repeat progress.count(each members)
        }
        return
            (repeat (each members)
            ._start(each input, reporter: progress?.nextReporter(), linkedBy: link, isolation: isolation))
    }
}

extension GroupDataProvider: _GroupOfDataProviders {
    /// The same members, each with a `Result` of its own.
    @inlinable
    public func _collecting() -> CollectingGroupDataProvider<repeat each Member> {
        CollectingGroupDataProvider(self)
    }
}

/// What ``GroupDataProvider`` alone conforms to. Methods in an extension of a type with a parameter pack give the type
/// checker tuples that aren't tuples when they are called in the middle of an expression; those of a protocol don't.
public protocol _GroupOfDataProviders: DataProvider {
    associatedtype _Collecting: DataProvider

    /// The same members, each with a `Result` of its own.
    func _collecting() -> _Collecting
}

extension _GroupOfDataProviders {
    /// This group as one provider, so that `>><<` adds a member beside it instead of one to it.
    @inlinable
    public func grouped() -> GroupedDataProvider<Self> {
        GroupedDataProvider(self)
    }

    /// This group with a `Result` for each member instead of a failure for all. See ``CollectingGroupDataProvider``.
    @inlinable
    public func collectingResults() -> _Collecting {
        _collecting()
    }
}
