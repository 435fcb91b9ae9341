import Foundation
import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A service", .timeLimit(.ample))
struct HTTPServiceTests {
    private struct Broken: Error {}

    @Test("sends a request that is resolved, and answers with the response")
    func success() async throws {
        let transport = ScriptedTransport(status: 201, headers: ["ETag": "1"], "body")
        var service = try HTTPService(transport)
        service.configuration.headers = ["Accept": "x"]
        let request = ServiceRequest(.post, "/{id}", pathParameters: ["id": "4"], query: ["q": 1], body: .text("t"))

        let response = try await service.request(request)

        #expect(response.status == 201 && response.text == "body" && response.headers[.eTag] == "1")
        #expect(response.url?.absoluteString == "https://h/v1/4?q=1")
        let sent = try #require(transport.asked.first)
        #expect(transport.asked.count == 1 && sent.method == .post && sent.body?.data == Data("t".utf8))
        #expect(sent.headers == ["Accept": "x", "Content-Type": "text/plain; charset=utf-8"])
    }

    @Test("sends nothing of a request that can't be sent")
    func badRequest() async throws {
        let transport = ScriptedTransport()
        let service = try HTTPService(transport)

        for request in [
            ServiceRequest(.get, "/{id}"), ServiceRequest(.get, "/", headers: ["A": "\n"]),
            ServiceRequest(.get, "/", idleTimeout: .zero), ServiceRequest(.get, "/", totalTimeout: .zero),
            ServiceRequest(.post, "/", body: .file(URL(fileURLWithPath: "/nowhere"))),
        ] {
            let error = await service.error(request)
            guard case .badRequest = error?.reason else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(transport.asked.isEmpty)
    }

    @Test(
        "an error names the reason of a transport failure",
        arguments: [
            (Broken(), "transport"), (URLError(.cannotConnectToHost), "transport"), (URLError(.timedOut), "timed out"),
            (URLError(.cancelled), "cancelled"), (CancellationError(), "cancelled"),
            (IntegrationError.cancelled(.superseded), "cancelled"), (RequestBody.Fault.usedUp, "bad request"),
        ] as [(any Error, String)])
    func transportErrors(error: any Error, name: String) async throws {
        let found = try await HTTPService(ScriptedTransport(failing: error)).error()

        let reason =
            switch found?.reason {
            case .transport(let cause): type(of: cause) == type(of: error) ? "transport" : "\(cause)"
            case .timedOut(.transport): "timed out"
            case .cancelled: "cancelled"
            case .badRequest(.body(.usedUp)): "bad request"
            default: "\(String(describing: found))"
            }
        #expect(reason == name)
        #expect(found?.request == "GET /a" && found?.response == nil)
    }

    @Test("an error of a truncated body follows its received bytes")
    func brokenBody() async throws {
        let body = HeldBody()
        body.send("some")
        body.fail(Broken())
        let error = try await HTTPService(ScriptedTransport { _ in .init(status: 200, body: body.bytes) }).error()

        guard case .transport(is Broken) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a failed request has its response")
    func verdicts() async throws {
        var service = try HTTPService(ScriptedTransport(status: 404, "none"))

        let status = await service.error()
        #expect(status?.status == 404 && status?.response?.text == "none")
        #expect("\(try #require(status))" == "GET /a: The server answered with the status 404.")
        service.rules = [ResponseRule { _ in .rejected(Broken()) }]
        #expect(await service.error()?.failure(as: Broken.self) != nil)
        service.rules = [.accept([404])]
        #expect(try await service.request(ServiceRequest(.get, "/")).text == "none")
    }

    @Test("takes as much of a body as is allowed, and no more", arguments: [9, 10])
    func limits(limit: Int) async throws {
        let pieces = ["abcd", "efgh", "ij"]
        let transport = ScriptedTransport { _ in
            .init(
                status: 200,
                body: HTTPBytes(
                    AsyncStream { stream in
                        for piece in pieces { stream.yield(Data(piece.utf8)) }
                        stream.finish()
                    }))
        }
        var service = try HTTPService(transport)
        service.configuration.limits.body = limit

        if limit == 10 {
            #expect(try await service.request(ServiceRequest(.get, "/a")).text == "abcdefghij")
        } else {
            let error = await service.error()
            guard case .tooLarge(limit: 9) = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.status == 200 && error?.response?.body.isEmpty == true)
        }
    }

    @Test("a body with an announced length beyond the limit isn't read")
    func announced() async throws {
        let body = HeldBody()
        var service = try HTTPService(
            ScriptedTransport { _ in .init(status: 200, headers: ["content-length": "11"], body: body.bytes) })
        service.configuration.limits.body = 10

        // Nobody ever sends a piece of it.
        #expect(await service.error()?.reason.description == "The body is larger than 10 bytes.")
        service.transport = ScriptedTransport(headers: ["Content-Length": "11", "Content-Encoding": "gzip"], "abc")
        #expect(try await service.request(ServiceRequest(.get, "/")).text == "abc")
        service.transport = ScriptedTransport(headers: ["Content-Length": "11"])
        #expect(try await service.request(ServiceRequest(.head, "/")).body.isEmpty)
        service.transport = ScriptedTransport(status: 304, headers: ["Content-Length": "11"])
        #expect(await service.error()?.status == 304)
        service.transport = ScriptedTransport(headers: ["Content-Length": "-11"], "abc")
        #expect(try await service.request(ServiceRequest(.get, "/")).text == "abc")
    }

    @Test("no progress is reported for the body of a failure", arguments: [false, true])
    func progressOfFailure(isTold: Bool) async throws {
        let attempts = Atomic(0)
        let transport = ScriptedTransport { request in
            let isFirst = attempts.add(1, ordering: .relaxed).newValue == 1
            let (status, text) = isFirst ? (503, "no") : (200, "abcdefgh")
            if isTold {
                request.didReceive?(.head(status: status, headers: ["Content-Length": "\(text.utf8.count)"]))
                request.didReceive?(.body(text.utf8.count))
            }
            return .text(text, status: status, headers: ["Content-Length": "\(text.utf8.count)"])
        }
        let service = try HTTPService(transport, interceptors: [RetryInterceptor(1, delay: .none)])
        let progress = ProgressLog()

        #expect(try await progress.listen { try await service.request(ServiceRequest(.get, "/")).text } == "abcdefgh")
        #expect(progress.counts == (isTold ? ["8", "8"] : ["8"]))
    }

    @Test("reports how far a body has come")
    func progress() async throws {
        let body = HeldBody()
        for piece in ["ab", "cd", "efgh"] { body.send(piece) }
        body.finish()
        let service = try HTTPService(
            ScriptedTransport { _ in .init(status: 200, headers: ["Content-Length": "8"], body: body.bytes) })
        let heard = Mutex<[IntegrationProgress]>([])

        let task = Integrator(service).prepareCall(ServiceRequest(.get, "/"))
            .onProgress { progress in heard.withLock { $0.append(progress) } }.call()
        #expect(try await task.value.text == "abcdefgh")
        await task.finish()

        // Reports may be merged; the last one is heard.
        #expect(heard.withLock { $0.last } == IntegrationProgress(fraction: 1, completed: 8, total: 8))
    }

    @Test("upload progress follows the transport's count")
    func sent() async throws {
        let heard = Mutex<[Int64]>([])
        let transport = ScriptedTransport { request in
            for count in [1, 3] as [Int64] { request.didSend(count) }
            return .text("")
        }
        var request = ServiceRequest(.post, "/", body: .text("abc"))
        request.didSend = { sent in heard.withLock { $0.append(sent) } }

        _ = try await HTTPService(transport).request(request)
        #expect(heard.withLock { $0 } == [1, 3])
    }
}
