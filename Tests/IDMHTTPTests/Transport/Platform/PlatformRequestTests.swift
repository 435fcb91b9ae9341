import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// The treatment of requests that URLSession and libcurl have by themselves, and that the transports turn off.
@Suite("Over each transport, a request", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct PlatformRequestTests {
    @Test("arrives with its path, its query and its header as they were meant")
    func target() async throws {
        try await withServer { server, service in
            server.on(.get, "/users/{id}", answer: .text("x"))
            let request = ServiceRequest(
                .get, "/users/{id}", pathParameters: ["id": "a/b..%é"], query: ["q": "+ & = ; % é"],
                headers: ["X-A": "1", "X-Empty": "", "x-a": "2", "Cookie": "a=1"])
            _ = try await service.request(request)

            let arrived = try await server.waitForRequest()
            #expect(arrived.target == "/users/a%2Fb..%25%C3%A9?q=%2B%20%26%20%3D%20%3B%20%25%20%C3%A9")
            #expect(arrived.parameters == ["id": "a/b..%é"])
            #expect(arrived.headers["X-A"] == "1, 2" && arrived.headers["Cookie"] == "a=1")
        }
    }

    @Test("a body is refused for a method without one", arguments: ["GET", "HEAD"])
    func bodies(method: ServiceRequest.Method) async throws {
        try await withServer { server, _ in
            let body = RequestBody.Encoded(Data("x".utf8))
            await #expect(throws: ServiceRequest.Fault.unexpectedBody(method)) {
                try await TestTransport.current.shared.send(TransportRequest(method, server.url("/a"), body: body))
            }
            #expect(server.journal.connectionCount == 0)
        }
    }

    @Test("with a body of no type is no form")
    func noForm() async throws {
        try await withServer { server, _ in
            server.on(.post, "/a", answer: .text("x"))
            let body = RequestBody.Encoded(Data("x".utf8))
            _ = try await TestTransport.current.shared.send(TransportRequest(.post, server.url("/a"), body: body))
            #expect(try await server.waitForRequest().headers[.contentType] == nil)
        }
    }

    @Test("carries a body of any kind, whole, with its length before it")
    func kinds() async throws {
        let folder = try TemporaryFolder()
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = try folder.file("f", content)
        let pieces = AsyncStream<Data> { stream in
            for start in stride(from: 0, to: content.count, by: 7_000) {
                stream.yield(content[start..<min(start + 7_000, content.count)])
            }
            stream.finish()
        }
        let bodies: [RequestBody] = [
            .bytes(content), .file(file), .stream(HTTPBytes(content), length: content.count),
            .stream(HTTPBytes(pieces)),
        ]
        try await withServer { server, service in
            server.on(.put, "/a", answer: .text("x"))
            var chunked = 0
            for body in bodies {
                _ = try await service.request(ServiceRequest(.put, "/a", body: body))
                let request = try await server.waitForRequest()
                // Over libcurl a body of an unknown length goes in chunks, as it is read.
                let isChunked = TestTransport.current == .curl && request.headers[.contentLength] == nil
                #expect(request.body == content && (isChunked || request.headers[.contentLength] == "300000"))
                #expect(isChunked == (request.headers["Transfer-Encoding"] != nil) && request.headers["Expect"] == nil)
                chunked += isChunked ? 1 : 0
            }
            #expect(chunked == (TestTransport.current == .curl ? 1 : 0))
            let stream = RequestBody.stream(HTTPBytes(Data()), length: 0)
            for body in [RequestBody.bytes(Data()), .file(try folder.file("empty", "")), stream] {
                _ = try await service.request(ServiceRequest(.put, "/a", body: body))
                #expect(try await server.waitForRequest().headers[.contentLength] == "0")
            }
            let lie = RequestBody.stream(HTTPBytes(content), length: 0)
            #expect(await service.outcome(ServiceRequest(.put, "/a", body: lie)) == "bad request")
        }
    }

    @Test("in several parts arrives as they were put together")
    func multipart() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.txt", "from disk")
        let body = MultipartBody([.text("title", "Sunset"), .file("photo", file, contentType: "text/plain")])
        try await withServer { server, service in
            server.on(.post, "/a", answer: .text("x"))
            _ = try await service.request(ServiceRequest(.post, "/a", body: .multipart(body)))
            let request = try await server.waitForRequest()
            let expected = try await RequestBody.multipart(body).encoded().bytes().all()
            #expect(request.body == expected && request.headers[.contentLength] == "\(expected.count)")
        }
    }

    @Test("upload progress reaches the whole length")
    func progress() async throws {
        let content = Data(count: 1 << 20)
        try await withServer { server, service in
            server.on(.post, "/a", answer: .text("x"))
            let sent = Observed<[Int64]>([])
            var request = ServiceRequest(.post, "/a", body: .bytes(content))
            request.didSend = { count in sent.change { $0.append(count) } }
            _ = try await service.request(request)
            try await sent.wait { $0.last == 1 << 20 }
            #expect(sent.value == sent.value.sorted())
        }
    }

    @Test("fails when its file is gone, shorter than it was, or a FIFO")
    func fileFaults() async throws {
        let folder = try TemporaryFolder()
        try await withServer { server, _ in
            for change in ["gone", "shorter", "a FIFO"] {
                let file = try folder.file("f", Data(count: 1 << 20))
                let body = try RequestBody.file(file).encoded()
                try FileManager.default.removeItem(at: file)
                if change == "shorter" { try Data(count: 10).write(to: file) }
                if change == "a FIFO" { try #require(mkfifo(file.path, 0o600) == 0) }
                await #expect(throws: RequestBody.Fault.self) {
                    try await TestTransport.current.shared.send(TransportRequest(.post, server.url("/a"), body: body))
                }
            }
            #expect(server.requests.isEmpty)
        }
    }

    #if !canImport(FoundationNetworking)
    // On Linux every body that goes over URLSession is in memory.
    @Test("over URLSession leaves no file behind, whatever became of it")
    func noFiles() async throws {
        let folder = try TemporaryFolder()
        let transport = URLSessionTransport(connectionsPerHost: 2, folder: folder.url)
        try await withServer { server, service in
            server.on(.post, "/a", answer: .text("x"))
            server.on(.post, "/b", answer: .hangUp)
            var service = service
            service.transport = transport
            for path in ["/a", "/b"] {
                let body = RequestBody.stream(HTTPBytes(Data(count: 100_000)))
                _ = try? await service.request(ServiceRequest(.post, path, body: body))
            }
            let names = try folder.names()
            #expect(names.isEmpty)
        }
    }

    @Test("over URLSession fails before anything is sent where its body can't be put aside")
    func notPutAside() async throws {
        let nowhere = URLSessionTransport(connectionsPerHost: 1, folder: URL(fileURLWithPath: "/nowhere"))
        try await withServer { server, service in
            var service = service
            service.transport = nowhere
            let error = await service.error(ServiceRequest(.post, "/a", body: .stream(HTTPBytes(Data("x".utf8)))))
            guard case .transport(let fault as TransportFault) = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(fault.kind == .notPutAside(code: ENOENT) && server.journal.connectionCount == 0)
        }
    }
    #endif

    @Test("over URLSession, a request that is cancelled before its begin isn't sent")
    func cancelledBefore() async throws {
        try await withServer { server, _ in
            let gate = TestGate()
            let url = server.url("/a")
            let task = Task {
                try? await gate.pass()
                let exchange = URLSessionTransport.shared.exchange(TransportRequest(.get, url), .none)
                return try await exchange.head()
            }
            task.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await expectNothingSent(to: server)
        }
    }
}
