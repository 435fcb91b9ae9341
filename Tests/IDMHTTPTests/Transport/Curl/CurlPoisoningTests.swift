#if os(Linux)
import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("CurlTransport connections that are used again", .fewAtOnce, .timeLimit(.ample))
struct CurlPoisoningTests {
    /// A response after which a connection is kept open, and how the request for it is made.
    enum First: String, CaseIterable {
        case ok, noContent, notModified, head, unauthorized, redirect

        var response: String {
            switch self {
            case .ok: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            case .noContent: "HTTP/1.1 204 No Content\r\n\r\n"
            case .notModified: "HTTP/1.1 304 Not Modified\r\n\r\n"
            case .head: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            case .unauthorized: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
            case .redirect: "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n"
            }
        }

        var request: ServiceRequest { ServiceRequest(self == .head ? .head : .get, "/first") }
    }

    /// A use of a service for the request that follows.
    private enum Operation: CaseIterable {
        case get, post, open, download, upload

        /// The outcome of the operation, in a few words as ``HTTPService/outcome(_:)`` has it.
        func outcome(of service: HTTPService, headers: ServiceHeaders, in folder: TemporaryFolder) async -> String {
            let request = ServiceRequest(.get, "/next", headers: headers)
            let sent = ServiceRequest(.post, "/next", headers: headers, body: .text("sent"))
            do {
                switch self {
                case .get: return await service.outcome(request)
                case .post: return await service.outcome(sent)
                case .open:
                    let stream = try await service.open(request)
                    let body = try await stream.bytes.reduce(into: Data()) { $0 += $1 }
                    return "\(stream.status) \(String(decoding: body, as: UTF8.self))"
                case .download:
                    let file = folder.url.appendingPathComponent(UUID().uuidString)
                    _ = try await DownloadProvider(service).request(ServiceDownload(request, to: .file(file)))
                    return "200 \(try String(contentsOf: file, encoding: .utf8))"
                case .upload:
                    let response = try await UploadProvider(service).request(sent)
                    return "\(response.status) \(response.text)"
                }
            } catch {
                return "\(self) \(error)"
            }
        }
    }

    private static let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright"

    /// How long a server waits with an unrequested response, in milliseconds.
    private static let pauses = Volume.isFull ? [0, 1, 10, 50, 100, 500] : [0, 0, 0, 1, 10]

    private static let users = 8

    /// Attempts on the connections of some users, 1,000 in all with `IDM_SOAK=1`. Each connection is idle when the
    /// unrequested response arrives.
    @Test(
        "An unrequested response on an idle connection never answers a request", .oneAtATime,
        arguments: First.allCases)
    func idleConnection(first: First) async throws {
        let rounds = Volume.of(125, normally: 10)
        let folder = try TemporaryFolder()
        let reads = (0..<Self.users).map { _ in TestGate() }
        let sends = (0..<Self.users).map { _ in DispatchSemaphore(value: 0) }
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                guard head.contains(" /first "), let user = Int(head.split(separator: "user ").last?.prefix(2) ?? "")
                else {
                    connection.write(Self.answer)
                    continue
                }
                connection.write(first.response)
                // The client has read the response.
                sends[user - 10].wait()
                connection.pause(milliseconds: Self.pauses[connection.number % Self.pauses.count])
                connection.write(Self.unasked)
                reads[user - 10].open(for: 1)
                connection.waitForClose()
            }
        }
        try await withRawServer(serve) { server, service in
            var service = service
            service.configuration.redirects = .handOver
            service.rules = [.accept([200, 204, 302, 304, 401])]
            let outcomes = try await withThrowingTaskGroup(of: [String].self) { [service] group in
                for user in 0..<Self.users {
                    group.addTask {
                        let headers: ServiceHeaders = ["Authorization": "user \(user + 10)"]
                        var outcomes: [String] = []
                        for round in 0..<rounds {
                            var request = first.request
                            request.headers = headers
                            _ = await service.outcome(request)
                            sends[user].signal()
                            try await reads[user].pass()
                            let operation = Operation.allCases[round % Operation.allCases.count]
                            outcomes.append(await operation.outcome(of: service, headers: headers, in: folder))
                        }
                        return outcomes
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(outcomes.count == Self.users * rounds && Set(outcomes) == ["200 right"])
        }
    }

    @Test("Over URLSession, an unrequested response may answer the next request")
    func overURLSession() async throws {
        let (read, sends) = (TestGate(), DispatchSemaphore(value: 0))
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                guard head.contains(" /first ") else {
                    connection.write(Self.answer)
                    continue
                }
                connection.write(First.ok.response)
                sends.wait()
                connection.write(Self.unasked)
                read.open(for: 1)
                connection.waitForClose()
            }
        }
        try await withRawServer(serve) { _, service in
            var service = service
            service.transport = URLSessionTransport()
            _ = await service.outcome(ServiceRequest(.get, "/first"))
            sends.signal()
            try await read.pass()
            let outcome = await service.outcome(ServiceRequest(.get, "/next"))
            withKnownIssue("FoundationNetworking uses a connection again without a look at it.", isIntermittent: true) {
                #expect(outcome == "200 right")
            }
        }
    }

    @Test("Two responses to one request in one segment: the second is dropped", arguments: First.allCases)
    func inOnePiece(first: First) async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                connection.write(head.contains(" /first ") ? first.response + Self.unasked : Self.answer)
            }
        }
        try await withRawServer(serve) { _, service in
            var service = service
            service.configuration.redirects = .handOver
            service.rules = [.accept([200, 204, 302, 304, 401])]
            for method in [ServiceRequest.Method.get, .post] {
                _ = await service.outcome(first.request)
                #expect(await service.outcome(ServiceRequest(method, "/next")) == "200 right")
            }
        }
    }

    @Test(
        "A followed redirect with an unrequested response behind it is followed",
        arguments: [
            "302 Found\r\nContent-Length: 0", "302 Found\r\nContent-Length: 5",
            "307 Temporary Redirect\r\nTransfer-Encoding: chunked",
        ])
    func followed(redirect: String) async throws {
        let body = redirect.hasSuffix("5") ? "hello" : redirect.hasSuffix("0") ? "" : "5\r\nhello\r\n0\r\n\r\n"
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                let hop = "HTTP/1.1 \(redirect)\r\nLocation: /next\r\n\r\n\(body)\(Self.unasked)"
                connection.write(head.contains(" /first ") ? hop : Self.answer)
            }
        }
        try await withRawServer(serve) { _, service in
            for round in 0..<Volume.of(1_000, normally: 20) {
                let request =
                    round.isMultiple(of: 2)
                    ? ServiceRequest(.get, "/first") : ServiceRequest(.post, "/first", body: .text("sent"))
                #expect(await service.outcome(request) == "200 right")
            }
        }
    }

    @Test("A connection is used again for the same credentials only")
    func credentials() async throws {
        let seen = Locked<[String]>([])
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                let user = head.split(separator: "\r\n").first {
                    $0.hasPrefix("Authorization") || $0.hasPrefix("X-API")
                }
                seen.withLock { $0.append("\(user.map(String.init) ?? "nobody") at \(connection.number)") }
                connection.write(Self.answer)
            }
        }
        try await withRawServer(serve) { server, service in
            let headers: [ServiceHeaders] = [
                [:], ["Authorization": "ada"], ["Authorization": "bob"], ["X-API-Key": "1", "Accept": "a"],
            ]
            for header in headers + headers + [["Accept": "b"]] {
                _ = await service.outcome(ServiceRequest(.get, "/", headers: header))
            }
            let expected = ["nobody at 1", "Authorization: ada at 2", "Authorization: bob at 3", "X-API-Key: 1 at 4"]
            #expect(seen.withLock { $0 } == expected + expected + ["nobody at 1"])
        }
    }

    @Test("Changing cookies of one store share a connection until another user owns it")
    func cookies() async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while connection.readHead() != nil {
                let cookie = "Set-Cookie: balancer=\(Int.random(in: 1...1_000_000))"
                connection.write("HTTP/1.1 200 OK\r\n\(cookie)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        try await withRawServer(serve) { server, service in
            var service = service
            let cookies = ServiceCookies()
            service.configuration.cookies = cookies
            for _ in 0..<3 { _ = await service.outcome() }
            // The first request has no cookies yet, and a connection of its own.
            #expect(server.connectionCount == 2)
            cookies.removeAll()
            for _ in 0..<2 { _ = await service.outcome() }
            #expect(server.connectionCount == 3)
        }
    }
}
#endif
