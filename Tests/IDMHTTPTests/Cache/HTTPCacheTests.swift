import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The HTTP cache", .fewAtOnce, .timeLimit(.ample))
struct HTTPCacheTests {
    /// A clock that a test sets, in seconds since 1970.
    let time = Observed(CacheCase.start)

    func cache(byteLimit: Int = 1 << 20, folder: URL? = nil) -> HTTPCache {
        HTTPCache(byteLimit: byteLimit, folder: folder.map { CacheFolder($0, byteLimit: 1 << 20) }) { [time] in
            time.value
        }
    }

    /// Runs a test with a server and a service with a cache.
    private func withCache(
        byteLimit: Int = 1 << 20, folder: URL? = nil, _ body: (LoopbackServer, HTTPService) async throws -> Void
    ) async throws {
        try await withServer { server, service in
            var service = service
            service.configuration.cache = cache(byteLimit: byteLimit, folder: folder)
            try await body(server, service)
        }
    }

    private func text(_ service: HTTPService, _ request: ServiceRequest) async -> String {
        do {
            return try await service.request(request).text
        } catch let error as HTTPError {
            return error.response?.text ?? error.reason.words
        } catch {
            return "\(error)"
        }
    }

    @Test("answers as RFC 9111 has it", arguments: [false, true])
    func cases(isOnDisk: Bool) async throws {
        let folder = try TemporaryFolder()
        var wrong: [String] = []
        try await withServer { server, service in
            for (number, one) in CacheCase.all.enumerated() {
                // In the folder a new cache has nothing in memory, and no credentials.
                if isOnDisk, one.first[.authorization] != nil || one.first[.cookie] != nil { continue }
                let path = "/\(number)"
                server.on(.get, path) { [time] request in
                    let isFirst = time.value == CacheCase.start
                    if !isFirst, request.headers[.ifNoneMatch] ?? request.headers["If-Modified-Since"] != nil {
                        return .status(304)
                    }
                    let answer = LoopbackServer.Answer.text(
                        isFirst ? "first" : "second", status: isFirst ? one.status : one.laterStatus)
                    return (isFirst ? one.stored : [:]).reduce(answer) { $0.header($1.name.spelling, $1.value) }
                }
                var asking = service
                time.change { $0 = CacheCase.start }
                asking.configuration.cache = cache(folder: isOnDisk ? folder.url : nil)
                _ = await text(asking, ServiceRequest(.get, path, headers: one.first))
                if isOnDisk {
                    await asking.configuration.cache?.folder?.settle()
                    asking.configuration.cache = cache(folder: folder.url)
                }
                time.change { $0 += one.after }
                let found = await text(
                    asking, ServiceRequest(.get, path, headers: one.second, cachePolicy: one.policy))
                let requests = server.requests.filter { $0.target == path }
                let isConditional =
                    requests.last?.headers[.ifNoneMatch] ?? requests.last?.headers["If-Modified-Since"] != nil
                let outcome =
                    switch (requests.count, isConditional, found) {
                    case (1, false, "notCached"): "notCached"
                    case (1, false, "first"): "hit"
                    case (2, true, _): "validated"
                    // A failure that a stored response covers.
                    case (2, false, "second"), (2, false, "first"): "fetched"
                    default: "\(requests.count) requests and “\(found)”"
                    }
                if outcome != "\(one.outcome)" { wrong.append("\(one.name): \(outcome), not \(one.outcome)") }
            }
        }
        #expect(wrong == [])
    }

    @Test("gives a stored body with merged fields after a 304, and the server's cookies")
    func notModified() async throws {
        try await withCache { server, service in
            server.on(.get, "/a") { request in
                guard request.headers[.ifNoneMatch] == nil else {
                    return .status(304).headers(["ETag": "\"1\"", "X-A": "new", "Cache-Control": "max-age=60"])
                        .header("Set-Cookie", "c=2")
                }
                return .text("body").headers([
                    "ETag": "\"1\"", "X-A": "old", "Content-Language": "en", "Set-Cookie": "c=1",
                ])
            }
            _ = try await service.request(ServiceRequest(.get, "/a"))
            let validated = try await service.request(ServiceRequest(.get, "/a"))
            let fresh = try await service.request(ServiceRequest(.get, "/a"))

            #expect(server.requests.count == 2)
            #expect(
                [validated.text, validated.headers["X-A"], validated.headers["Content-Language"]] == [
                    "body", "new", "en",
                ])
            #expect(validated.headers[.setCookie] == "c=2" && fresh.headers[.setCookie] == nil)
            #expect(validated.status == 200 && fresh.text == "body" && fresh.headers["Age"] == "0")
        }
    }

    @Test(
        "an unsafe method drops an address unless it fails",
        arguments: [
            ("POST", 200, "/a", true), ("PUT", 204, "/a", true), ("DELETE", 200, "/a", true),
            ("PATCH", 303, "/a", true),
            ("POST", 500, "/a", false), ("POST", 404, "/a", false), ("OPTIONS", 200, "/a", false),
            ("POST", 201, "/other", true),
        ])
    func invalidation(method: String, status: Int, path: String, isDropped: Bool) async throws {
        try await withCache { server, service in
            var service = service
            service.configuration.redirects = .handOver
            server.on(.get, "/a", answer: .text("x").header("Cache-Control", "max-age=60"))
            let method = ServiceRequest.Method(method)
            server.on(method, path) { _ in
                .status(status).headers(path == "/a" ? [:] : ["Location": "/a", "Content-Location": "https://h/b"])
            }
            _ = try await service.request(ServiceRequest(.get, "/a"))
            _ = await service.outcome(ServiceRequest(method, path))
            _ = try await service.request(ServiceRequest(.get, "/a"))
            #expect(server.requests.count { $0.method == "GET" } == (isDropped ? 2 : 1))
        }
    }

    @Test(
        "an answer that an invalidation or wipe overtakes isn't stored",
        arguments: ["invalidation", "wipe", "private wipe"])
    func overtaken(by event: String) async throws {
        let (asked, gate) = (Signal(), Signal())
        let transport = ScriptedTransport { request in
            guard request.method == .get else { return .text("") }
            asked.open()
            try await gate.wait()
            return .text("old", headers: ["Cache-Control": "max-age=60"])
        }
        var service = try HTTPService(transport)
        let cache = cache()
        service.configuration.cache = cache
        let request = ServiceRequest(.get, "/a", headers: event == "private wipe" ? ["Authorization": "a"] : [:])
        let running = Task { [service] in try await service.request(request) }
        try await asked.wait()
        switch event {
        case "invalidation": _ = try await service.request(ServiceRequest(.post, "/a"))
        case "wipe": try await cache.removeAll()
        default: cache.removePrivate()
        }
        gate.open()
        _ = try await running.value
        #expect(cache.bytesInMemory == 0)
    }

    @Test("shares one response among equal requests", arguments: ["max-age=60", "no-store"], [true, false])
    func shared(control: String, isEqual: Bool) async throws {
        let (asked, gate, queued) = (Log(), Signal(), Log())
        let transport = ScriptedTransport { request in
            asked.add("asked")
            try await gate.wait()
            return .text("x", headers: ["Cache-Control": control])
        }
        var service = try HTTPService(transport)
        service.configuration.cache = cache()
        let recorder = EventRecorder(clock: ContinuousClock()) { event in
            if case .queued = event { queued.add("queued") }
        }
        let responses = (0..<3).map { number in
            let request = ServiceRequest(.get, "/a", headers: isEqual ? [:] : ["Accept-Language": "\(number)"])
            return EventRecorder.$current.withValue(recorder) {
                Task { [service] in try await service.request(request).text }
            }
        }
        try await (isEqual ? queued : asked).count(reaches: isEqual ? 2 : 3)
        gate.open()
        for response in responses { #expect(try await response.value == "x") }

        #expect(asked.count == (isEqual && control == "max-age=60" ? 1 : 3))
    }

    @Test("lets the next of equal requests ask when the first is cancelled")
    func sharedCancelled() async throws {
        let (asked, gate) = (Log(), Signal())
        let transport = ScriptedTransport { _ in
            asked.add("asked")
            try await gate.wait()
            return .text("x", headers: ["Cache-Control": "max-age=60"])
        }
        var service = try HTTPService(transport)
        service.configuration.cache = cache()
        let request = { @Sendable [service] in try await service.request(ServiceRequest(.get, "/a")).text }
        let first = Task { try await request() }
        try await asked.count(reaches: 1)
        let (second, third) = (Task { try await request() }, Task { try await request() })
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        first.cancel()
        try await asked.count(reaches: 2)
        gate.open()

        #expect(try await second.value == "x")
        #expect(asked.count == 2)
    }

    @Test("a logout, a login and a removal of cookies wipe private responses only")
    func wiped() async throws {
        try await withCache { server, service in
            server.on(.get, "/own", answer: .text("own").header("Cache-Control", "max-age=60"))
            server.on(.get, "/all", answer: .text("all").header("Cache-Control", "max-age=60"))
            let authentication = AuthenticationInterceptor(BearerAuthenticator(), for: server.url, credential: "a")
            var service = service
            service.interceptors = [authentication]
            _ = try await service.request(ServiceRequest(.get, "/all").withoutAuthentication())
            let shared = service.configuration.cache?.bytesInMemory ?? 0
            for wipe in [{ authentication.logOut() }, { authentication.logIn("b") }] {
                authentication.logIn("a")
                _ = try await service.request(ServiceRequest(.get, "/own"))
                #expect(service.configuration.cache?.bytesInMemory ?? 0 > shared)
                wipe()
                #expect(service.configuration.cache?.bytesInMemory == shared)
            }
            authentication.logIn("a")
            _ = try await service.request(ServiceRequest(.get, "/own"))
            #expect(server.requests.count == 4)
        }
    }

    @Test("answers at once and validates behind it where the server allows that")
    func staleWhileRevalidate() async throws {
        try await withCache { server, service in
            server.on(.get, "/a") { request in
                request.headers[.ifNoneMatch] == nil
                    ? .text("first").headers(["ETag": "\"1\"", "Cache-Control": "max-age=5, stale-while-revalidate=60"])
                    : .text("second").headers(["Cache-Control": "max-age=60"])
            }
            #expect(await text(service, ServiceRequest(.get, "/a")) == "first")
            time.change { $0 += 10 }
            #expect(await text(service, ServiceRequest(.get, "/a")) == "first")
            try await server.waitUntil { $0.requests.count == 2 }
        }
    }

    @Test(
        "stale-if-error covers failures and broken connections with a stale response",
        arguments: [true, false])
    func staleIfError(isAllowed: Bool) async throws {
        for breaks in [true, false] {
            let count = Observed(0)
            let transport = ScriptedTransport { _ in
                guard
                    count.change({ count in
                        count += 1; return count
                    }) > 1
                else {
                    return .text(
                        "old", headers: ["Cache-Control": "max-age=0\(isAllowed ? ", stale-if-error=60" : "")"])
                }
                if breaks { throw TransportFault(.unreachable) }
                return .text("no", status: 503)
            }
            var service = try HTTPService(transport)
            service.configuration.cache = cache()
            _ = await text(service, ServiceRequest(.get, "/a"))
            #expect(
                await text(service, ServiceRequest(.get, "/a")) == (isAllowed ? "old" : breaks ? "unreachable" : "no"))
        }
    }

    @Test("a hit without interceptors is judged, limited and redirected like any response")
    func freshHit() async throws {
        try await withCache { server, service in
            server.on(.get, "/a", answer: .text("body").header("Cache-Control", "max-age=60"))
            server.on(.get, "/b", answer: .redirect(to: "/a").header("Cache-Control", "max-age=60"))
            for path in ["/a", "/b"] { _ = try await service.request(ServiceRequest(.get, path)) }
            var (judged, limited) = (service, service)
            judged.rules = [ResponseRule { _ in .failure(.status(200)) }]
            limited.configuration.limits.body = 1
            #expect(await judged.outcome() == "status 200")
            #expect(await limited.outcome() == "too large 1")
            #expect(await service.outcome(ServiceRequest(.get, "/b")) == "200 body")
            #expect(server.requests.count { $0.target == "/a" } == 1)
        }
    }

    @Test("a stored GET answers HEAD, and a newer HEAD updates it")
    func head() async throws {
        try await withCache { server, service in
            server.on(.get, "/a", answer: .text("body").headers(["ETag": "\"1\"", "Cache-Control": "max-age=60"]))
            server.on(.head, "/a", answer: .text("bodies").headers(["ETag": "\"2\""]))
            _ = try await service.request(ServiceRequest(.get, "/a"))
            let head = try await service.request(ServiceRequest(.head, "/a"))
            #expect(head.headers[.eTag] == "\"1\"" && head.body.isEmpty && server.requests.count == 1)
            _ = try await service.request(ServiceRequest(.head, "/a", cachePolicy: .reload))
            _ = try await service.request(ServiceRequest(.get, "/a"))
            #expect(server.requests.map(\.method) == ["GET", "HEAD", "GET"])
        }
    }

    @Test("an incomplete, unread or oversized body isn't stored")
    func wholeBodies() async throws {
        struct Broken: Error {}
        let fields: ServiceHeaders = ["Cache-Control": "max-age=60"]
        let broken = HTTPBytes(
            AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("half".utf8))
                stream.finish(throwing: Broken())
            })
        let answers: [@Sendable () -> TransportResponse] = [
            { TransportResponse(status: 200, headers: fields, body: broken) },
            { .text("half", headers: fields.merging(["Content-Length": "8"])) },
            { .text(String(repeating: "x", count: 3_000), headers: fields) },
        ]
        for answer in answers {
            var service = try HTTPService(ScriptedTransport { _ in answer() })
            let cache = cache(byteLimit: 10_000)
            service.configuration.cache = cache
            _ = await text(service, ServiceRequest(.get, "/a"))
            #expect(cache.bytesInMemory == 0)
        }
        var service = try HTTPService(ScriptedTransport { _ in .text("whole", headers: fields) })
        let cache = cache()
        service.configuration.cache = cache
        let stream = try await service.open(ServiceRequest(.get, "/a"))
        #expect(cache.bytesInMemory == 0)
        _ = try await stream.bytes.all()
        #expect(cache.bytesInMemory > 0)
    }

    @Test("a full cache evicts the least recently used response")
    func limit() async throws {
        let transport = ScriptedTransport { _ in
            .text(String(repeating: "x", count: 1_000), headers: ["Cache-Control": "max-age=60"])
        }
        var service = try HTTPService(transport)
        let cache = cache(byteLimit: 20_000)
        service.configuration.cache = cache
        for number in 0..<40 {
            _ = try await service.request(ServiceRequest(.get, "/\(number)"))
            _ = try await service.request(ServiceRequest(.get, "/0"))
            #expect(cache.bytesInMemory <= 20_000)
        }
        #expect(transport.asked.count { $0.url.lastPathComponent == "0" } == 1)
    }
}
