import IDMCore
import IDMTesting
import TestSupport
import Testing
import XCTest

extension Surroundings {
    fileprivate static func scope() async throws {
        // sample: a scope
        try await TestScope.run {
            let provider = StubDataProvider<String, Int>(1)
            let count = try await provider.request("apple")
            #expect(count == 1)
        }
        // end
    }

    private static func place(_ place: SourcePlace, failure: TestFailure) {
        // sample: a place for a framework
        let location = SourceLocation(
            fileID: "\(place.fileID)", filePath: "\(place.filePath)", line: place.line, column: place.column)
        XCTFail(failure.message, file: place.filePath, line: UInt(place.line))
        // end
        _ = location
    }

    @MainActor
    fileprivate static func leaks() async throws {
        // sample: what has to go
        try await TestScope.run {
            let leaks = LeakTracker()
            let screen = leaks.track(SearchScreen())
            await screen.search("apple").finish()
        }
        // end
    }

    fileprivate static func contract() async throws {
        // sample: a provider against the contract
        try await DataProviderContract.check(input: "apple") { UserDataProvider() }
        // end
    }

    fileprivate static func contractOfInputs() async throws {
        // sample: the answers of many inputs
        try await DataProviderContract.check(inputs: "apple", "pear") { UserDataProvider() }
        // end
    }

    fileprivate static func recorder(users: Integrator<String, [String]>) async throws {
        // sample: the events of a call
        let recorder = IntegrationRecorder<[String]>()
        recorder.call(users.prepareCall("apple"))
        try await recorder.waitForEvents(.began, .succeeded(["Ada"]), .completed)
        // end
    }
}

@Suite("Samples of the comments on checks and recordings", .timeLimit(.ample))
struct CheckCommentSamples {
    @Test func `a scope`() async throws { try await Surroundings.scope() }
    @Test func `a leak tracker`() async throws { try await Surroundings.leaks() }
    @Test func `the contract`() async throws { try await TestScope.run { try await Surroundings.contract() } }

    @Test func `a recorder`() async throws {
        try await TestScope.run { try await Surroundings.recorder(users: Integrator(Surroundings.UserDataProvider())) }
    }
}
