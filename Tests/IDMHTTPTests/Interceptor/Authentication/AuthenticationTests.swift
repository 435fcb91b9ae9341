import Foundation
import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Authentication", .timeLimit(.ample))
struct AuthenticationTests {
    @Test("supplies requests with the credential")
    func supplies() async throws {
        let course = try Course(valid: "a", credential: "a")

        #expect(try await course.get() == "Bearer a")
        #expect(course.replaced.value.isEmpty)
    }

    @Test("fifty simultaneous rejections share one refresh and one replay each")
    func singleFlight() async throws {
        let gate = Signal()
        let course = try Course(valid: "b", credential: "a", together: 50) { _, _ in
            try await gate.wait()
            return "b"
        }
        let tasks = (0..<50).map { _ in Task { await course.outcome() } }
        try await course.sent.wait { $0.count == 50 }
        try await course.replaced.wait { $0.count == 1 }
        gate.open()

        for task in tasks { #expect(await task.value == "Bearer b") }
        #expect(course.replaced.value == ["a"])
        #expect(course.sent.value.filter { $0 == "Bearer b" }.count == 50)
        #expect(course.authentication.credential == "b")
    }

    @Test("a pause of one request doesn't pause the shared refresh")
    func pausedRefresh() async throws {
        let isPaused = Observed<Bool?>(nil)
        let course = try Course(valid: "b", credential: "a") { _, _ in
            isPaused.change { $0 = PauseControl.current != nil }
            return "b"
        }
        #expect(await PauseControl().bind { await course.outcome() } == "Bearer b")
        #expect(isPaused.value == false)
    }

    @Test("events of a request exclude its rejection and the refresh")
    func progress() async throws {
        let course = try Course(valid: "new", credential: "a") { _, next in
            IntegrationProgress.report(completed: 99, total: 100)
            _ = try await next(ServiceRequest(.post, "/open", headers: ["Authorization": "a refresh's own"]))
            return "new"
        }
        let progress = ProgressLog()

        #expect(await progress.listen { await course.outcome() } == "Bearer new")
        #expect(progress.counts == ["\("Bearer new".utf8.count)"])
    }

    @Test("fans a failed refresh out, and tries again with the next rejection")
    func refreshFails() async throws {
        let gate = Signal()
        let attempts = Mutex(0)
        let course = try Course(valid: "b", credential: "a", together: 10) { _, _ in
            try await gate.wait()
            guard
                attempts.withLock({
                    $0 += 1; return $0
                }) > 1
            else { throw Course.Trouble() }
            return "b"
        }
        let tasks = (0..<10).map { _ in Task { await course.outcome() } }
        try await course.sent.wait { $0.count == 10 }
        gate.open()
        var outcomes: Set<String> = []
        for task in tasks { outcomes.insert(await task.value) }

        // Whoever was rejected after the failure has made a refresh of their own, which succeeds.
        #expect(outcomes.isSubset(of: ["refresh failed: Trouble()", "Bearer b"]))
        #expect(outcomes.contains("refresh failed: Trouble()"))
        #expect(await course.outcome() == "Bearer b")
        #expect(course.replaced.value == ["a", "a"])
    }

    @Test("stops at a second rejection")
    func secondRejection() async throws {
        let course = try Course(valid: "never", credential: "a") { old, _ in old + "a" }

        #expect(await course.outcome() == "status 401")
        #expect(course.sent.value == ["Bearer a", "Bearer aa"])
        #expect(course.replaced.value == ["a"])
    }

    @Test("replays once where a refresh brings the same credential")
    func sameToken() async throws {
        let course = try Course(valid: "never", credential: "a") { old, _ in old }

        #expect(await course.outcome() == "status 401")
        #expect(course.sent.value == ["Bearer a", "Bearer a"])
    }

    @Test("makes no refresh for a rejection of an older credential")
    func olderCredential() async throws {
        let course = try Course(valid: "b", credential: "a")
        let rotating = ClosureInterceptor { request, next in
            // The server has seen the old one, and the new one is there before its answer is.
            defer { course.authentication.replaceCredential("b") }
            return try await next(request)
        }
        var service = course.service
        service.interceptors.append(rotating)

        #expect(try await service.request(ServiceRequest(.get, "/a")).text == "Bearer b")
        #expect(course.replaced.value.isEmpty)
        #expect(course.sent.value == ["Bearer a", "Bearer b"])
    }

    @Test("lets the refresh's own requests through, behind it and of the service itself")
    func refreshRequests() async throws {
        let box = Mutex<HTTPService?>(nil)
        let course = try Course(valid: "b", credential: "a") { _, next in
            let behind = try await next(ServiceRequest(.post, "/token")).text
            let itself = try await box.withLock { $0 }?.request(ServiceRequest(.post, "/token")).text
            return behind.isEmpty && itself == "" ? "b" : "wrong"
        }
        box.withLock { $0 = course.service }

        #expect(await course.outcome() == "Bearer b")
        #expect(course.sent.value == ["Bearer a", "", "", "Bearer b"])
    }

    @Test("takes a task that a refresh has started, and that outlives it, for anybody")
    func outlivesRefresh() async throws {
        let box = Observed<HTTPService?>(nil)
        let later = Observed<Task<String, any Error>?>(nil)
        let gate = Signal()
        let course = try Course(valid: "b", credential: "a") { _, _ in
            let task = Task {
                try await gate.wait()
                return await box.value?.outcome() ?? ""
            }
            later.change { $0 = task }
            return "b"
        }
        box.change { $0 = course.service }

        #expect(await course.outcome() == "Bearer b")
        gate.open()
        #expect(try await later.value?.value == "200 Bearer b")
    }

    @Test("fails with a refresh that is rejected itself")
    func refreshRejected() async throws {
        let course = try Course(valid: "b", credential: "a") { _, next in
            try await next(ServiceRequest(.post, "/closed")).text
        }
        #expect(await course.outcome().hasPrefix("refresh failed: POST /closed"))
        #expect(course.replaced.value.count == 1)
    }

    @Test("a hanging refresh fails at its time limit")
    func refreshHangs() async throws {
        try await TestScope.run {
            let (clock, gate, log) = (ManualClock(), Signal(), Log())
            let course = try Course(valid: "b", credential: "a", timeout: .seconds(5), clock: clock) { _, _ in
                await gate.waitIgnoringCancel()
                log.add("late")
                return "late"
            }
            async let outcome = course.outcome()
            try await clock.waitForSleepers(1)
            await clock.advance(by: .seconds(5))

            #expect(await outcome.hasPrefix("refresh failed: "))
            gate.open()
            await clock.rest()
            #expect(log.entries == ["late"] && course.authentication.credential == "a")
        }
    }

    @Test(
        "a rejection after a redirect over another origin starts no refresh",
        arguments: [["https://other/"], ["https://other/", "https://h/v1/back"], ["http://h/", "https://h/v1/back"]])
    func rejectedElsewhere(hops: [String]) async throws {
        let course = try Course(valid: "a", credential: "a") { _, _ in "b" }
        let rest = Mutex(hops[...])
        let transport = ScriptedTransport { _ in
            guard let next = rest.withLock({ $0.popFirst() }) else { return .text("", status: 401) }
            return .text("", status: 302, headers: ["Location": next])
        }
        var service = course.service
        service.transport = transport
        service.configuration.redirects = .followInsecurely

        #expect(await service.error()?.status == 401)
        #expect(transport.asked.count == hops.count + 1)
        #expect(course.replaced.value.isEmpty && course.authentication.credential == "a")
    }

    @Test("makes a refresh for a rejection that a redirect within the origin led to")
    func rejectedBehindRedirect() async throws {
        let course = try Course(valid: "b", credential: "a") { _, _ in "b" }
        var service = course.service
        service.transport = ScriptedTransport { request in
            guard request.url.lastPathComponent == "c" else {
                return .text("", status: 302, headers: ["Location": "/c"])
            }
            return .text("in", status: request.headers[.authorization] == "Bearer b" ? 200 : 401)
        }

        #expect(await service.outcome() == "200 in")
        #expect(course.replaced.value == ["a"])
    }

    @Test("never takes a refresh that cancels itself for a cancelled request")
    func refreshCancelled() async throws {
        let course = try Course(valid: "b", credential: "a") { _, _ in throw CancellationError() }

        #expect(await course.outcome().hasPrefix("refresh failed: "))
    }

    @Test("lets new requests wait for a refresh that runs")
    func newRequestsWait() async throws {
        try await TestScope.run {
            let (gate, clock) = (Signal(), ManualClock())
            let course = try Course(valid: "b", credential: "a", clock: clock) { _, _ in
                try await gate.wait()
                return "b"
            }
            let first = Task { await course.outcome() }
            try await course.replaced.wait { $0.count == 1 }
            let second = Task(executorPreference: clock.executor) { await course.outcome() }
            // As far as it comes.
            await clock.rest()
            #expect(course.sent.value == ["Bearer a"])
            gate.open()

            #expect(await first.value == "Bearer b")
            #expect(await second.value == "Bearer b")
            #expect(course.sent.value == ["Bearer a", "Bearer b", "Bearer b"])
        }
    }

    @Test("lets a request that is cancelled go, and the refresh go on")
    func cancelledWaiter() async throws {
        let gate = Signal()
        let course = try Course(valid: "b", credential: "a") { _, _ in
            try await gate.wait()
            return "b"
        }
        let task = Task { try await course.get() }
        try await course.replaced.wait { $0.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()

        #expect(await course.outcome() == "Bearer b")
        #expect(course.replaced.value == ["a"])
    }

    @Test(
        "a credential is never sent to another origin",
        arguments: [
            "http://h", "https://h:8443", "https://other", "https://h.other",
        ])
    func origins(base: String) async throws {
        let course = try Course(valid: "a", credential: "a")
        var service = course.service
        service.configuration.baseURL = try #require(URL(string: base))

        #expect(try await service.request(ServiceRequest(.get, "/open")).text == "")
    }

    @Test("never sends an empty token, and never keeps one", arguments: ["", " ", "a b", "a\r\nX: y", "é"])
    func unusable(token: String) async throws {
        let first = try Course(valid: "", credential: token)
        #expect(await first.outcome() == AuthenticationError.unusableCredential.description)
        #expect(first.sent.value.isEmpty)

        let second = try Course(valid: "b", credential: "a") { _, _ in token }
        #expect(await second.outcome().hasPrefix("refresh failed: "))
        #expect(second.authentication.credential == "a")
        #expect(second.sent.value == ["Bearer a"])
    }

    @Test("a scheme without refresh returns the rejection")
    func notRefreshable() async throws {
        let transport = ScriptedTransport(status: 401)
        let service = try HTTPService(
            transport,
            interceptors: [
                AuthenticationInterceptor(
                    HeaderAuthenticator("X-API-Key"), for: #require(URL(string: "https://h")), credential: "k")
            ])

        #expect(await service.error()?.status == 401)
        #expect(transport.asked.map { $0.headers["X-API-Key"] } == ["k"])
    }

    @Test("an unread one-shot body is sent after a refresh")
    func bodies() async throws {
        let course = try Course(valid: "b", credential: "a") { _, _ in "b" }
        let request = ServiceRequest(.post, "/a", body: .stream(HTTPBytes(Data())))

        _ = try await course.service.request(request)
        #expect(course.sent.value == ["Bearer a", "Bearer b"])
    }
}
