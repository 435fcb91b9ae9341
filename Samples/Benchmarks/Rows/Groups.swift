import IDMCore

/// Groups of two, and `async let`.
enum Groups {
    static let rows: [Benchmark] = [
        .time(
            "group of two that suspend", group(of: PoliteIncrement()), against: asyncLet(of: PoliteIncrement()),
            limit: .times(1.2)),
        .time(
            "group of two that answer at once", group(of: Increment()), against: asyncLet(of: Increment()),
            limit: .times(1)),
    ]

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
