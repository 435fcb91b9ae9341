/// A group that stays whole: its inputs and outputs are one tuple wherever it is composed. Made by
/// ``GroupDataProvider/grouped()``.
///
/// ```swift
/// let nested = (a >><< b).grouped() >><< c  // ((A, B), C) instead of (A, B, C)
/// ```
@frozen
public struct GroupedDataProvider<Group: DataProvider>: DataProvider {
    /// The group inside.
    public let group: Group

    /// Makes one provider of a group.
    @inlinable
    public init(_ group: Group) {
        self.group = group
    }

    /// Asks the group.
    @inlinable
    public func request(_ input: Group.Input) async throws -> Group.Output {
        try await group.request(input)
    }

    /// The group inside.
    public var structure: ProviderStructure { group.structure }
}
