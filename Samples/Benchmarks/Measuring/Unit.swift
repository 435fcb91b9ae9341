import Foundation

/// The unit of a figure.
enum Unit: String, Sendable, Codable {
    /// In nanoseconds.
    case time
    case allocations
    case bytes
    case threads

    /// A figure with three or four digits and its unit.
    func text(_ figure: Double) -> String {
        switch self {
        case .time: Self.scaled(figure, [("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)])
        case .bytes: Self.scaled(figure, [("B", 1), ("KB", 1_024), ("MB", 1_048_576)])
        case .allocations: Self.digits(figure)
        case .threads: Self.digits(figure)
        }
    }

    /// A spread in one cell: the minimum and, for times, the median.
    func text(_ spread: Spread?) -> String {
        guard let spread else { return "–" }
        return self == .time ? "\(text(spread.minimum)) (\(text(spread.median)))" : text(spread.minimum)
    }

    private static func scaled(_ figure: Double, _ scales: [(name: String, factor: Double)]) -> String {
        let scale = scales.last { abs(figure) >= $0.factor } ?? scales[0]
        return "\(digits(figure / scale.factor)) \(scale.name)"
    }

    private static func digits(_ figure: Double) -> String {
        if figure == figure.rounded() || abs(figure) >= 100 { return String(format: "%.0f", figure) }
        return String(format: abs(figure) >= 10 ? "%.1f" : "%.2f", figure)
    }
}
