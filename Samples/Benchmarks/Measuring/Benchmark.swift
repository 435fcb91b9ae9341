/// One row of the table.
struct Benchmark: Sendable {
    let name: String
    /// What the row compares with.
    let opponent: String
    let unit: Unit
    let limit: Limit
    let measure: @Sendable (Effort) async throws -> Reading
}
