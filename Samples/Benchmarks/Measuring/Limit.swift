/// The target of a figure. A missed target fails nothing.
enum Limit: Sendable {
    /// At most this multiple of the opponent's figure.
    case times(Double)
    /// At most this much more than the opponent's figure.
    case over(Double)
    /// At most this figure, regardless of the opponent.
    case figure(Double)

    /// The verdict on a limit. Unknown where the platform doesn't measure the figure.
    func isKept(by reading: Reading) -> Bool? {
        guard let ours = reading.ours?.figure else { return nil }
        switch self {
        case .times(let most): return reading.theirs.map { ours <= $0.figure * most }
        case .over(let most): return reading.theirs.map { ours - $0.figure <= most }
        case .figure(let most): return ours <= most
        }
    }
}
