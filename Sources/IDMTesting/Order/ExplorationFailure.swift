/// The order in which an exploration failed.
public struct ExplorationFailure: Error, CustomStringConvertible {
    /// The seed of the order: `explore(seeds: [seed])` runs it again.
    public let seed: Int
    /// What the body threw, or that it hangs. ``TestFailures`` with that, if the kit has found anything wrong.
    public let error: any Error
    /// The line of the exploration.
    public let place: SourcePlace

    /// The place, the seed and the error.
    public var description: String { "\(place): expected every order to pass, and seed \(seed) failed: \(error)" }
}
