/// One row of the table.
struct Benchmark: Sendable {
    let name: String
    /// The name of the opponent.
    let opponent: String
    let unit: Unit
    let limit: Limit
    let measure: @Sendable (Effort) async throws -> Reading
}
