/// Which of those that wait is next: the highest, and of equals the one that has waited longest.
public enum TransferPriority: Int, Sendable, Hashable, Codable, Comparable, CaseIterable {
    /// When there is nothing else to do.
    case low
    /// As they come.
    case normal
    /// Before all others.
    case high

    /// Whether one comes behind another.
    public static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}
