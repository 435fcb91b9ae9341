import IDMTesting

/// What happened, in order.
final class Log: Sendable {
    private let lines = Watched<[String]>([])

    var entries: [String] { lines.value }
    var count: Int { lines.value.count }

    func add(_ line: String) {
        lines.change { $0.append(line) }
    }

    /// Waits until so many lines are there.
    func count(reaches count: Int) async throws {
        try await lines.wait { $0.count >= count }
    }

    /// Waits until a line is there.
    func contains(_ line: String) async throws {
        try await lines.wait { $0.contains(line) }
    }

    /// Waits until the lines are as they have to be.
    func contains(_ isThere: @escaping @Sendable ([String]) -> Bool) async throws {
        try await lines.wait(until: isThere)
    }
}
