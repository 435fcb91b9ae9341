import IDMTesting

/// A number of seats, which are taken in the order of arrival.
package final class Seats: Sendable {
    /// The seats that the current task has. A task that waited for a second one would wait for itself.
    @TaskLocal private static var held: [Seats] = []
    private let seatCount: Int
    private let guests = Observed((came: 0, gone: 0))

    package init(_ seatCount: Int) {
        self.seatCount = seatCount
    }

    /// Has so many seats for as long as the body runs. Waits for them as long as it takes, also in a task that is
    /// cancelled.
    ///
    /// The tasks of the body have no other seat either, and are over when it is.
    package func hold<R>(_ count: Int = 1, _ body: () async throws -> R) async rethrows -> R {
        guard !Self.held.contains(where: { $0 === self }) else { return try await body() }
        let last = guests.change { guests in
            guests.came += count
            return guests.came
        }
        try? await guests.wait(ignoringCancel: true) { [seatCount] in last - $0.gone <= seatCount }
        defer { guests.change { $0.gone += count } }
        return try await Self.$held.withValue(Self.held + [self], operation: body)
    }
}

extension Seats {
    /// Runs a test with a number of seats.
    func run(_ count: Int = 1, _ test: () async throws -> Void) async throws {
        try await hold(count) {
            // One that hangs keeps its seat. It is the one that fails without this.
            guard !Task.isCancelled else { throw NoSeat() }
            try await test()
        }
    }

    private struct NoSeat: Error, CustomStringConvertible {
        let description = "The time was over before a test that ran left its seat."
    }
}
