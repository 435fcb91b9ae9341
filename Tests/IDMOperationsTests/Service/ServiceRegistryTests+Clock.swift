import Dispatch
import IDMOperations
import IDMTesting
import TestSupport
import Testing

/// A registry beside a manual clock.
extension ServiceRegistryTests {
    @Test("For a clock nothing is at rest while a task is on its way that has waited for a service")
    @MainActor
    func watchedWait() async throws {
        let (services, asked, made, hasMade) = (ServiceRegistry(), Signal(), Gate(), Gate())
        services.register { _ in
            asked.open()
            made.wait()
            return 5
        }
        DispatchQueue.global().async {
            _ = try? services.service(Int.self)
            hasMade.open()
        }
        try await asked.wait()
        try await TestScope.run {
            let clock = ManualClock()
            let waiting = Task { try await services.service(Int.self) }
            await clock.rest()
            #expect(clock.isAtRest)
            made.open()
            // Stands still: the main actor is to take no turn meanwhile.
            hasMade.wait()
            #expect(!clock.isAtRest)
            let value = try await waiting.value
            #expect(value == 5)
        }
    }
}
