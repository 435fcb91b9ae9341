import IDMTesting

/// Does work, and returns once everything that the library has started for it has come to its end. What is heard is
/// told while whoever tells it still holds it: only after that is it certain that a ledger keeps nothing.
func settled<R>(_ work: () async throws -> R) async throws -> R {
    try await TestScope.run {
        let clock = ManualClock()
        let result = try await work()
        await clock.rest()
        return result
    }
}
