/// Requests that all start before the first one is answered.
enum Simultaneous {
    /// Returns the sum of the answers to `count` equal requests.
    static func sum(
        of count: Int, opening gate: Gate, _ request: @escaping @Sendable () async throws -> Int
    ) async throws -> Int {
        var tasks: [Task<Int, any Error>] = []
        for _ in 0..<count { tasks.append(start(request)) }
        gate.open()
        var total = 0
        for task in tasks { total += try await task.value }
        return total
    }

    /// True if a task makes its request before ``start(_:)`` returns. On older systems some requests may start after the
    /// first answers.
    static var startsAtOnce: Bool {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
    }

    private static func start(_ request: @escaping @Sendable () async throws -> Int) -> Task<Int, any Error> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate { try await request() }
        }
        return Task { try await request() }
    }
}
