/// The figures of several rounds.
struct Spread: Sendable {
    /// The rule that picks the representative round.
    enum Yardstick: Sendable {
        /// The fastest round: other work on the machine only adds time.
        case least
        /// The median round, for work in which threads contend: in the fastest round they happened not to contend.
        case median
    }

    private let figures: [Double]
    private let yardstick: Yardstick

    init(_ figures: [Double], by yardstick: Yardstick = .least) {
        self.figures = figures.sorted()
        self.yardstick = yardstick
    }

    /// The figure of the representative round.
    var figure: Double {
        switch yardstick {
        case .least: minimum
        case .median: median
        }
    }

    /// The figure of the fastest round.
    var minimum: Double { figures[0] }

    var median: Double { figures[figures.count / 2] }
}
