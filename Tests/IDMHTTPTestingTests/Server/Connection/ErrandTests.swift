import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("An errand of a server", .timeLimit(.ample))
struct ErrandTests {
    @TaskLocal static var name = "nobody"

    @Test("is done with what is bound where it is started, and not where it was made")
    func bound() async throws {
        let name = Watched<String?>(nil)
        let errand = Self.$name.withValue("who made it") { Errand { name.change { $0 = Self.name } } }
        Self.$name.withValue("who starts it") { errand.start(preferring: nil) }
        try await name.wait { $0 != nil }
        #expect(name.value == "who starts it")
    }

    @Test("is done and cancelled, whether the cancel comes before its start or after it", arguments: [true, false])
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
