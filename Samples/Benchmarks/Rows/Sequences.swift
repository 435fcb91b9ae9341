import IDMCore

/// Sequences, and the same stages awaited by hand.
enum Sequences {
    static let rows: [Benchmark] = [
        .time("sequence of two", two, against: twoAwaits, limit: .times(1.5)),
        .allocations("sequence of two: allocations", two, against: twoAwaits, limit: .over(0)),
        .time("sequence of ten", ten, against: tenAwaits, limit: .times(1.15)),
        .allocations("sequence of ten: allocations", ten, against: tenAwaits, limit: .over(0)),
    ]

    private static let stage = Increment()

    private static let two = Side("a >>>> b", proof: { sum(of: $0, plus: 2) }) { operations in
        let sequence = stage >>>> stage
        var total = 0
        for input in 0..<operations {
            total += try await sequence.request(input)
        }
        return total
    }

    private static let twoAwaits = Side("two awaits", proof: { sum(of: $0, plus: 2) }) { operations in
        let (a, b) = (stage, stage)
        var total = 0
        for input in 0..<operations {
            total += try await b.request(a.request(input))
        }
        return total
    }

    private static let ten = Side("a >>>> b …", proof: { sum(of: $0, plus: 10) }) { operations in
        let sequence =
            stage >>>> stage >>>> stage >>>> stage >>>> stage >>>> stage >>>> stage >>>> stage >>>> stage >>>> stage
        var total = 0
        for input in 0..<operations {
            total += try await sequence.request(input)
        }
        return total
    }

    private static let tenAwaits = Side("ten awaits", proof: { sum(of: $0, plus: 10) }) { operations in
        let stage = stage
        var total = 0
        for input in 0..<operations {
            var value = try await stage.request(input)
            value = try await stage.request(value)
            value = try await stage.request(value)
            value = try await stage.request(value)
            value = try await stage.request(value)
            value = try await stage.request(value)
            value = try await stage.request(value)
            value = try await stage.request(value)
            value = try await stage.request(value)
            total += try await stage.request(value)
        }
        return total
    }
}
