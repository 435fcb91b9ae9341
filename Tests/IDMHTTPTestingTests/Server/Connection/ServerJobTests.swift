import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("An job of a server", .timeLimit(.ample))
struct ErrandTests {
    @TaskLocal static var name = "nobody"

    @Test("A job has the task-locals of its start")
    func bound() async throws {
        let name = Observed<String?>(nil)
        let job = Self.$name.withValue("who made it") { ServerJob { name.change { $0 = Self.name } } }
        Self.$name.withValue("who starts it") { job.start(preferring: nil) }
        try await name.wait { $0 != nil }
        #expect(name.value == "who starts it")
    }

    @Test("A job may be cancelled before or after its start", arguments: [true, false])
    func cancel(isFirst: Bool) async throws {
        let (hasBegun, isCancelled) = (Signal(), Signal())
        let job = ServerJob {
            hasBegun.open()
            if (try? await Signal().wait()) == nil { isCancelled.open() }
        }
        if isFirst { job.cancel() }
        job.start(preferring: nil)
        try await hasBegun.wait()
        if !isFirst { job.cancel() }
        try await isCancelled.wait()
    }
}
