import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("An errand of a server", .timeLimit(.ample))
struct ErrandTests {
    @TaskLocal static var name = "nobody"

    @Test("A job has the task-locals of its start")
    func bound() async throws {
        let name = Watched<String?>(nil)
        let errand = Self.$name.withValue("who made it") { Errand { name.change { $0 = Self.name } } }
        Self.$name.withValue("who starts it") { errand.start(preferring: nil) }
        try await name.wait { $0 != nil }
        #expect(name.value == "who starts it")
    }

    @Test("A job may be cancelled before or after its start", arguments: [true, false])
    func cancel(isFirst: Bool) async throws {
        let (hasBegun, isCancelled) = (Signal(), Signal())
        let errand = Errand {
            hasBegun.open()
            if (try? await Signal().wait()) == nil { isCancelled.open() }
        }
        if isFirst { errand.cancel() }
        errand.start(preferring: nil)
        try await hasBegun.wait()
        if !isFirst { errand.cancel() }
        try await isCancelled.wait()
    }
}
