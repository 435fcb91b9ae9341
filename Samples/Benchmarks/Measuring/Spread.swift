/// The figures of several rounds.
struct Spread: Sendable {
    /// Which round tells what the work costs.
    enum Yardstick: Sendable {
        /// The one that was disturbed least: whatever else goes on in the machine only ever adds to the work.
        case least
        /// The one in the middle. Where threads are in one another's way that is the work: in the quickest round they
        /// happened not to meet, and it tells what they do one after the other.
        case median
    }

    private let figures: [Double]
    private let yardstick: Yardstick

    init(_ figures: [Double], by yardstick: Yardstick = .least) {
        self.figures = figures.sorted()
        self.yardstick = yardstick
    }

    /// The figure of the round that counts.
    var figure: Double {
        switch yardstick {
        case .least: minimum
        case .median: median
        }
    }

    /// The figure of the round that was disturbed least.
    var minimum: Double { figures[0] }

    var median: Double { figures[figures.count / 2] }
}
