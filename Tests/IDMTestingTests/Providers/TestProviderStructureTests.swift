import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The structure of the providers for tests", .timeLimit(.ample))
struct TestProviderStructureTests {
    @Test("The structure of a test provider names its kind and its types")
    func each() async throws {
        try await TestScope.run {
            let stub = StubDataProvider<Int, String>("one")
            #expect(stub.structure == .provider("stub: Int → String"))
            #expect(ControlledDataProvider<Int, String>().structure == .provider("controlled: Int → String"))
            #expect(
                ControlledStreamDataProvider<Int, String>().structure == .provider("controlled stream: Int → String"))
            #expect(
                ControlledCallbackDataProvider<Int, String>().structure
                    == .provider("controlled callbacks: Int → String"))
            let watched = stub.retry(2)
            #expect(SpyDataProvider(watched).structure == watched.structure)
            // A stub that nobody asks is a failure.
            _ = try await stub.request(1)
        }
    }

    @Test("A flow of test providers is drawn as a tree")
    func flow() async throws {
        try await TestScope.run {
            let spy = SpyDataProvider(StubDataProvider<Int, String>("one"))
            let flow = spy >>>> ControlledDataProvider<String, Int>()
            #expect(
                flow.structure.description == """
                    sequence
                    ├─ stub: Int → String
                    └─ controlled: String → Int
                    """)
            #expect(
                flow.structure.mermaid == """
                    flowchart LR
                        n1["stub: Int → String"]
                        n2["controlled: String → Int"]
                        n1 --> n2
                    """)
            _ = try await spy.request(1)
        }
    }
}
