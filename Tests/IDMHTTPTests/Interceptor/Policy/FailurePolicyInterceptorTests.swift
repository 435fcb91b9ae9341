import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A policy for failures", .timeLimit(.ample))
struct FailurePolicyInterceptorTests {
    private struct Expired: Error { var code = 1 }

    private let told = Observed<[Int]>([])

    private func tell() -> @Sendable (HTTPError) async -> Void {
        { [told] error in told.change { $0.append(error.status ?? 0) } }
    }

    private func service(
        _ statuses: Observed<[Int]>, _ interceptor: FailurePolicyInterceptor, rules: [ResponseRule] = []
    ) throws -> HTTPService {
        let transport = ScriptedTransport { _ in .text("", status: statuses.change { $0.removeFirst() }) }
        return try HTTPService(transport, interceptors: [interceptor], rules: rules)
    }

    @Test("acts on its own status only, and leaves the error as it is", arguments: [401, 426, 503])
    func statuses(status: Int) async throws {
        let all: [Int: FailurePolicyInterceptor] = [
            401: .unauthorized(do: tell()), 426: .updateRequired(do: tell()), 503: .maintenance(do: tell()),
        ]
        let policy = try #require(all[status])

        let service = try service(Observed([200, 404, status]), policy)
        for expected in [nil, 404, status] { #expect(await service.error()?.status == expected) }
        #expect(told.value == [status])
    }

    @Test("acts once for a run of failures, and again after a success")
    func once() async throws {
        let service = try service(Observed([503, 503, 404, 503, 200, 503]), .maintenance(do: tell()))

        for _ in 0..<6 { _ = await service.error() }
        #expect(told.value == [503, 503])
    }

    @Test("acts once, however many requests fail at the same time")
    func many() async throws {
        let service = try service(Observed(Array(repeating: 401, count: 50)), .unauthorized(do: tell()))

        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<50 { group.addTask { await service.error()?.status } }
            for await status in group { #expect(status == 401) }
        }
        #expect(told.value == [401])
    }

    @Test("acts on a failure that a rule found")
    func rules() async throws {
        let rules = [ResponseRule { .rejected(Expired(code: $0.status)) }]
        let service = try service(
            Observed([201, 202]), .failure(of: Expired.self, when: { $0.code == 202 }, do: tell()), rules: rules)

        for _ in 0..<2 { #expect(await service.error()?.failure(as: Expired.self) != nil) }
        #expect(told.value == [202])
    }

    @Test("the action ends before the first failed request does")
    func waits() async throws {
        let gate = Signal()
        let acting = Signal()
        let service = try service(
            Observed([503, 404]),
            .maintenance { _ in
                acting.open()
                await gate.waitIgnoringCancel()
            })
        let ended = Observed(false)
        let task = Task {
            let error = await service.error()
            ended.change { $0 = true }
            return error?.status
        }
        try await acting.wait()
        // Another request is done from beginning to end meanwhile.
        #expect(await service.error()?.status == 404)
        #expect(!ended.value)
        gate.open()
        #expect(await task.value == 503)
    }
}
