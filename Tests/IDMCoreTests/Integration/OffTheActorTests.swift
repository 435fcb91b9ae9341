import IDMCore
import IDMTesting
import TestSupport
import Testing

/// A task that starts at once on no actor runs on its caller's thread, and keeps even what is `@concurrent` there.
@Suite("What is asked on no actor isn't done on the caller's thread", .timeLimit(.ample))
@MainActor
struct OffTheActorTests {
    private let log = Log()

    nonisolated private static func note(_ name: String, in log: Log) {
        log.add("\(name) \(MainQueue.isCurrent ? "on main" : "off main")")
    }

    /// Answers at once.
    private struct Asked: DataProvider {
        func request(_ log: Log) async throws -> Log {
            OffTheActorTests.note("provider", in: log)
            return log
        }
    }

    private struct Made: DataModel {
        init(from log: Log) throws {
            OffTheActorTests.note("model", in: log)
        }
    }

    private let integrator = Integrator(Asked(), model: Made.self)

    /// As a class of a user's may do that is bound to no actor.
    nonisolated private func load() -> IntegrationTask<Made> {
        integrator.prepareCall(log).call()
    }

    @Test("A call that the main actor makes asks there, and has its model made elsewhere")
    func onMain() async {
        await integrator.prepareCall(log).call().finish()
        #expect(log.entries == ["provider on main", "model off main"])
    }

    @Test("A call in a function that is on no actor")
    func function() async {
        await load().finish()
        #expect(log.entries == ["provider off main", "model off main"])
    }

    @Test("The events of a call")
    func events() async {
        for await event in integrator.prepareCall(log).events() { if case .completed = event { break } }
        #expect(log.entries == ["provider off main", "model off main"])
    }

    @Test("A call that takes the place of one that has not answered")
    func displaced() async throws {
        let (provider, log) = (ControlledDataProvider<Int, Int>(), log)
        let integrator = Integrator(provider, executing: .latest)
        nonisolated func call(_ input: Int) -> IntegrationTask<Int> {
            integrator.prepareCall(input).onCancel { _ in Self.note("handler", in: log) }.call()
        }
        let older = call(1)
        _ = try await provider.waitForRequest()
        let newer = call(2)
        await older.finish()
        newer.cancel()
        await newer.finish()
        #expect(log.entries == ["handler off main", "handler off main"])
    }
}
