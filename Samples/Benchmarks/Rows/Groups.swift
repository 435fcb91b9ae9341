import IDMCore

/// Groups of two compared with `async let`, and many requests of which one fails compared with a task group.
enum Groups {
    static let rows: [Benchmark] = [
        .time(
            "group of two that suspend", group(of: PoliteIncrement()), against: asyncLet(of: PoliteIncrement()),
            limit: .times(1.5)),
        .time(
            "group of two that answer at once", group(of: Increment()), against: asyncLet(of: Increment()),
            limit: .times(1.5), by: .median),
        .time(
            "each of 20,000, of which one fails", ofAll: hanging, each, against: taskGroup, limit: .times(1.5)),
    ]

    private static let hanging = 20_000

    /// Fails for the middle input, and waits for cancellation for every other input.
    private struct FailsInTheMiddle: DataProvider {
        let last: Int

        nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
            if input == last / 2 { throw Fault("the one in the middle fails") }
            try await Task.sleep(for: .seconds(1_000))
            return input
        }
    }

    private static let each = Side("each", proof: { $0 }) { operations in
        let provider = FailsInTheMiddle(last: operations - 1).each()
        do {
            return try await provider.request(Array(0..<operations)).count + 1
        } catch {
            return operations
        }
    }

    private static let taskGroup = Side("a task group", proof: { $0 }) { operations in
        let provider = FailsInTheMiddle(last: operations - 1)
        do {
            return try await withThrowingTaskGroup(of: Int.self) { group in
                for input in 0..<operations { group.addTask { try await provider.request(input) } }
                return try await group.reduce(0) { count, _ in count + 1 }
            }
        } catch {
            return operations
        }
    }

    private static func group<Member: DataProvider<Int, Int>>(of member: Member) -> Side {
        Side("a >><< b", proof: { 2 * sum(of: $0, plus: 1) }) { operations in
            let group = member >><< member
            var total = 0
            for input in 0..<operations {
                let (first, second) = try await group.request((input, input))
                total += first + second
            }
            return total
        }
    }

    private static func asyncLet<Member: DataProvider<Int, Int>>(of member: Member) -> Side {
        Side("async let", proof: { 2 * sum(of: $0, plus: 1) }) { operations in
            // In a task of its own. A child of `async let` lives in its parent's memory, and the runtime of Swift 6.3
            // looks at it once more when the parent may have gone on: what came next in the same task crashed now and
            // then.
            try await Task {
                var total = 0
                for input in 0..<operations {
                    async let first = member.request(input)
                    async let second = member.request(input)
                    total += try await first + second
                }
                return total
            }.value
        }
    }
}
