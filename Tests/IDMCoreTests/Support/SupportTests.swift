import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The kit of the tests", .timeLimit(.ample))
struct SupportTests {
    @Test("A signal lets everybody go on, before and after")
    func signal() async throws {
        let signal = Signal()
        let waiter = Task { try await signal.wait() }
        signal.open()
        try await waiter.value
        try await signal.wait()
        await signal.waitDeaf()
    }
}
