import IDMCaching
import IDMCachingTesting
import TestSupport
import Testing

@Suite("Samples of the store contract", .inScope, .timeLimit(.ample))
struct StoreContractSamples {
    @Test("A store is checked in one call")
    func store() async throws {
        // sample: a store against the contract
        try await StoreContract.check(values: ["a": 1, "b": 2]) { MemoryCache<String, Int>(countLimit: 100) }
        // end
    }
}
