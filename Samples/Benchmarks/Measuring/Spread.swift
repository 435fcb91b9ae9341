/// The figures of several rounds.
struct Spread: Sendable {
    private let figures: [Double]

    init(_ figures: [Double]) {
        self.figures = figures.sorted()
    }

    /// The figure of the round that was disturbed least.
    var minimum: Double { figures[0] }

    var median: Double { figures[figures.count / 2] }
}
