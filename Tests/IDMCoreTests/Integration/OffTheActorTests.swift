import IDMCore
import IDMTesting
import TestSupport
import Testing

// A task that starts at once on no actor runs on its caller's thread, and keeps even `@concurrent` code there.
@Suite(.timeLimit(.ample))
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

    /// A call in a function that is bound to no actor.
    nonisolated private func load() -> IntegrationTask<Made> {
        integrator.prepareCall(log).call()
    }

    @Test func `a call on the main actor asks there and makes its model elsewhere`() async {
        await integrator.prepareCall(log).call().finish()
        #expect(log.entries == ["provider on main", "model off main"])
    }

    @Test(arguments: [false, true])
    func `a call of a nonisolated function, and a loop over events, ask off the main thread`(isLoop: Bool) async {
        if isLoop { for await _ in integrator.prepareCall(log).events() {} } else { await load().finish() }
        #expect(log.entries == ["provider off main", "model off main"])
    }

    @Test func `a call superseded on no actor delivers off the main thread`() async throws {
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
