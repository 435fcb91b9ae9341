/// What a figure is held against. Nothing fails over it.
enum Limit: Sendable {
    /// At most so many times the opponent's figure.
    case times(Double)
    /// At most so much more than the opponent's figure.
    case over(Double)
    /// At most so much, whatever the opponent needs.
    case figure(Double)

    /// Whether a limit is kept, as far as the platform tells.
    func isKept(by reading: Reading) -> Bool? {
        guard let ours = reading.ours?.figure else { return nil }
        switch self {
        case .times(let most): return reading.theirs.map { ours <= $0.figure * most }
        case .over(let most): return reading.theirs.map { ours - $0.figure <= most }
        case .figure(let most): return ours <= most
        }
    }
}
