import IDMCore
import TestSupport
import Testing

extension Surroundings {
    private static func parts() {
        // sample: structure
        let dashboard =
            TokenDataProvider().timeout(.seconds(5))
            >>>> ProfileDataProvider().retry(2).fallback(to: ProfileDataProvider())
            >>>> Profile.self
        print(dashboard.structure)
        print(dashboard.structure.mermaid)
        // end
    }

    private static func time(dashboard: Integrator<String, Profile>) async throws {
        // sample: trace
        let trace = TraceRecorder()
        trace.watch(dashboard, as: "dashboard")
        let profile = ProfileDataProvider().traced("profile", by: trace)
        let token = try await TokenDataProvider().traced("token", by: trace).request()
        _ = try await dashboard.request(token)
        _ = try await profile.request(token)
        let json = trace.chromeTrace
        let page = trace.page
        // end
        _ = (json, page)
    }

    @Suite("The article on flows", .timeLimit(.ample))
    struct LookingAtAFlowTests {
        @Test("The article shows the tree that its sample prints")
        func tree() {
            let dashboard =
                TokenDataProvider().timeout(.seconds(5))
                >>>> ProfileDataProvider().retry(2).fallback(to: ProfileDataProvider())
                >>>> Profile.self
            #expect(
                dashboard.structure.description == """
                    sequence
                    ├─ within 5.0 seconds
                    │  └─ TokenDataProvider
                    ├─ fallback
                    │  ├─ first: retry, at most 2 times
                    │  │  └─ ProfileDataProvider
                    │  └─ if it fails: ProfileDataProvider
                    └─ model Profile
                    """)
        }
    }
}
