import IDMTesting

/// A log of lines, in order.
package final class Log: Sendable {
    private let lines = Observed<[String]>([])

    package init() {}

    package var entries: [String] { lines.value }
    package var count: Int { lines.value.count }

    package func add(_ line: String) {
        lines.change { $0.append(line) }
    }

    /// Waits until so many lines are there.
    package func count(reaches count: Int) async throws {
        try await lines.wait { $0.count >= count }
    }

    /// Waits until a line is there.
    package func contains(_ line: String) async throws {
        try await lines.wait { $0.contains(line) }
    }

    /// Waits until the lines are as they have to be.
    package func contains(_ isThere: @escaping @Sendable ([String]) -> Bool) async throws {
        try await lines.wait(until: isThere)
    }
}
