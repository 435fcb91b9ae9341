import Dispatch
import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An exchange that the test tells what a session would.
@Suite("An exchange of a session", .fewAtOnce, .timeLimit(.ample))
struct SessionExchangeTests {
    /// One that lives on, with a delegate and without a cache, as a transport has it. Others end the process when a
    /// task is cancelled while it fails.
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: SessionDelegate(), delegateQueue: queues.delegate)
    }()
    private static let queues = SessionQueues()

    /// An exchange whose request goes nowhere, with its head.
    private func exchange(
        folder: URL = FileManager.default.temporaryDirectory, status: Int = 200, headers: [String: String] = [:],
        limits: ServiceConfiguration.Limits = .init(), patience: DispatchTimeInterval = .milliseconds(1)
    ) async throws -> (SessionExchange, SessionExchange.Head) {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let exchange = SessionExchange(
            TransportRequest(.get, url, limits: limits), .none, queues: Self.queues,
            task: { Self.session.dataTask(with: url) }, folder: folder, patience: patience
        ) { exchange, _ in
            guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers)
            else { return }
            exchange.receive(response as URLResponse)
        }
        return (exchange, try await exchange.head())
    }

    /// An exchange that says when its task is made, and waits for the test then.
    private func exchange(_ queues: SessionQueues, _ log: Log, _ goesOn: DispatchSemaphore) throws -> SessionExchange {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        return SessionExchange(
            TransportRequest(.get, url), .none, queues: queues,
            task: {
                log.add("made")
                goesOn.wait()
                return Self.session.dataTask(with: url)
            }, folder: FileManager.default.temporaryDirectory, didBegin: { _, _ in })
    }

    private func drain(_ queue: DispatchQueue) async {
        await withUnsafeContinuation { drained in queue.async { drained.resume() } }
    }

    @Test("a cancel while the session makes a task blocks no thread")
    @MainActor
    func making() async throws {
        let (log, goesOn) = (Log(), DispatchSemaphore(value: 0))
        let exchange = try exchange(SessionQueues(), log, goesOn)
        // On this actor, where somebody has to cancel it.
        let head = Task { try await exchange.head() }
        try await log.contains("made")
        head.cancel()
        await #expect(throws: CancellationError.self) { try await head.value }
        goesOn.signal()
    }

    @Test("an ended exchange never makes a task")
    func stoppedBefore() async throws {
        let (queues, log, goesOn) = (SessionQueues(), Log(), DispatchSemaphore(value: 0))
        let othersAreStopped = DispatchSemaphore(value: 0)
        queues.start.async { goesOn.wait() }
        queues.cancel.async { othersAreStopped.wait() }
        let exchange = try exchange(queues, log, goesOn)
        let ends = Log()
        let heads = (0..<2).map { _ in
            Task {
                await #expect(throws: CancellationError.self) { try await exchange.head() }
                ends.add("end")
            }
        }
        // There is one head only: once one of them is refused, the other stands in line.
        try await ends.count(reaches: 1)
        for head in heads { head.cancel() }
        try await ends.count(reaches: 2)
        goesOn.signal()
        await drain(queues.start)
        #expect(log.entries.isEmpty)
        othersAreStopped.signal()
        await drain(queues.cancel)
    }

    @Test("a cancel at the begin releases the exchange")
    func cancelledAsItBegins() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        for _ in 0..<50 {
            let (isGone, canBegin, head) = (Signal(), Signal(), Observed<Task<Void, any Error>?>(nil))
            func request() -> TransportRequest {
                let token = DeinitObserver { isGone.open() }
                var request = TransportRequest(.get, url)
                request.didSend = { _ in
                    withExtendedLifetime(token) {}
                    head.value?.cancel()
                }
                return request
            }
            let task = Task { [request = request()] in
                try await canBegin.wait()
                _ = try await URLSessionTransport.shared.send(request)
            }
            head.change { $0 = task }
            canBegin.open()
            _ = await task.result
            head.change { $0 = nil }
            try await isGone.wait()
        }
    }

    @Test("a full disk is an error after the bytes in memory")
    func notPutAside() async throws {
        let (exchange, _) = try await exchange(folder: URL(fileURLWithPath: "/nowhere"))
        for _ in 0..<200 { exchange.receive(Data(count: 16 << 10)) }
        exchange.complete(nil, nil)

        var length = 0
        let fault = await #expect(throws: TransportFault.self) {
            while let piece = try await exchange.next(isolation: #isolation) { length += piece.count }
        }
        #expect(fault?.kind == .notPutAside(code: ENOENT) && length == 2 << 20)
    }

    @Test("a slow reader blocks the session before any byte is spilled")
    func waits() async throws {
        let (exchange, _) = try await exchange(folder: URL(fileURLWithPath: "/nowhere"), patience: .never)
        let content = filling(20_000_000)
        Thread.detachNewThread {
            for start in stride(from: 0, to: content.count, by: 10_000) {
                exchange.receive(content[start..<start + 10_000])
            }
            exchange.complete(nil, nil)
        }
        var all = Data()
        while let piece = try await exchange.next(isolation: #isolation) {
            all += piece
            #expect(exchange.bytesInMemory <= 2 << 20)
        }
        #expect(all == content)
    }

    @Test("spilled bytes return in order before later ones")
    func spilled() async throws {
        let folder = try TemporaryFolder()
        let (exchange, _) = try await exchange(folder: folder.url)
        let content = filling(5_000_000)
        for start in stride(from: 0, to: content.count, by: 10_000) {
            exchange.receive(content[start..<start + 10_000])
        }
        #expect(exchange.bytesInMemory <= 2 << 20)
        #expect(try folder.names().isEmpty)
        exchange.complete(nil, nil)

        var all = Data()
        while let piece = try await exchange.next(isolation: #isolation) { all += piece }
        #expect(all == content)
    }

    @Test("a body shorter than announced is an error", arguments: [3, 4])
    func announced(length: Int) async throws {
        let (exchange, _) = try await exchange(headers: ["Content-Length": "\(length)"])
        exchange.receive(Data(count: 3))
        exchange.complete(nil, nil)

        #expect(try await exchange.next(isolation: #isolation)?.count == 3)
        if length == 3 {
            #expect(try await exchange.next(isolation: #isolation) == nil)
        } else {
            let fault = await #expect(throws: TransportFault.self) { try await exchange.next(isolation: #isolation) }
            #expect(fault?.kind == .truncated)
        }
    }

    @Test("a challenge with a complete body ends the exchange")
    func rejected() async throws {
        let (exchange, head) = try await exchange(status: 401)
        exchange.receive(Data("who?".utf8))
        exchange.didReject()
        exchange.complete(nil, URLError(.cancelled))

        #expect(head.status == 401)
        #expect(try await exchange.next(isolation: #isolation) == Data("who?".utf8))
        #expect(try await exchange.next(isolation: #isolation) == nil)
    }

    @Test("a cancel by the system is reported as a fault")
    func cancelled() async throws {
        let (exchange, _) = try await exchange()
        exchange.complete(nil, URLError(.cancelled))
        await #expect(throws: CancellationError.self) { try await exchange.next(isolation: #isolation) }
    }

    @Test(
        "each system error has a kind of fault",
        arguments: [
            (.cannotFindHost, .unreachable), (.notConnectedToInternet, .unreachable),
            (.cannotConnectToHost, .unreachable), (.serverCertificateUntrusted, .untrusted(.other)),
            (.serverCertificateHasBadDate, .untrusted(.expired)),
            (.serverCertificateNotYetValid, .untrusted(.expired)),
            (.serverCertificateHasUnknownRoot, .untrusted(.unknownAuthority)),
            (.secureConnectionFailed, .untrusted(.other)), (.networkConnectionLost, .truncated),
            (.cannotDecodeContentData, .undecodable), (.cannotParseResponse, .malformed), (.unknown, .truncated),
        ] as [(URLError.Code, TransportFault.Kind)])
    func faults(code: URLError.Code, kind: TransportFault.Kind) async throws {
        let (exchange, _) = try await exchange()
        exchange.complete(nil, URLError(code))
        let fault = await #expect(throws: TransportFault.self) { try await exchange.next(isolation: #isolation) }
        #expect(fault?.kind == kind && fault?.cause?.code == code)
    }
}
