#if os(Linux)
import Foundation
import IDMCore
import TestSupport
import Testing

@testable import IDMHTTP

/// Each test measures a process of its own, in which only the transport works.
@Suite("CurlTransport under load", .oneAtATime, .timeLimit(.ample), .serialized)
struct CurlStressTests {
    @Test("Requests that are cancelled at random moments leave nothing behind")
    func cancels() async throws {
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                switch Self.number(of: head) % 5 {
                case 0: connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                case 1:
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                    connection.write([UInt8](repeating: 0, count: 1_000_000))
                case 2:
                    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    for _ in 0..<4 where connection.write("5\r\nhello\r\n") { connection.pause(milliseconds: 1) }
                    connection.write("0\r\nX: y\r\n\r\n")
                case 3: connection.write("HTTP/1.1 302 Found\r\nLocation: /0\r\nContent-Length: 5\r\n\r\nhello")
                default: return connection.waitForClose()
                }
            }
        }
        defer { server.stop() }
        await #expect(processExitsWith: .success) { [port = server.port as Int] in
            let load = try CurlLoad(port: port)
            func cancel(_ count: Int) async {
                await load.run(count) { number in
                    let task = Task {
                        await load.outcome(number, opens: number.isMultiple(of: 3))
                    }
                    try? await ContinuousClock().pause(for: .microseconds(.random(in: 0...3_000)))
                    task.cancel()
                    _ = await task.value
                }
            }
            await cancel(500)
            let before = try await load.usage()
            await cancel(Volume.of(5_000, normally: 500))
            let after = try await load.usage()
            #expect(after.exchanges == 0 && after.descriptors <= before.descriptors + 6)
            #expect(after.memory - before.memory < 32 << 20)
        }
    }

    @Test("Each reset connection ends its request with an error")
    func resets() async throws {
        let server = try RawServer { connection in
            connection.resetAtClose()
            guard connection.number % 4 > 0, let head = connection.readHead() else { return }
            switch Self.number(of: head) % 3 {
            case 0: return
            case 1: connection.write("HTTP/1.1 200 OK\r\nContent-")
            default: connection.write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")
            }
        }
        defer { server.stop() }
        await #expect(processExitsWith: .success) { [port = server.port as Int] in
            let load = try CurlLoad(port: port)
            let outcomes = await load.run(Volume.of(1_000, normally: 200)) { await load.outcome($0) }
            let usage = try await load.usage(answers: false)
            #expect(Set(outcomes).isSubset(of: ["lost", "truncated", "unreachable"]) && usage.exchanges == 0)
            #expect(load.transport.connectionCount == 0)
        }
    }

    @Test("256 descriptors are enough for 64 concurrent requests to 300 hosts")
    func fewDescriptors() async throws {
        let server = try RawServer(at: "0.0.0.0") { connection in
            while connection.readHead() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello") }
        }
        defer { server.stop() }
        await #expect(processExitsWith: .success) { [port = server.port as Int] in
            var limits = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            limits.rlim_cur = 256
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            let load = try CurlLoad(port: port)
            let outcomes = await load.run(Volume.of(3_000, normally: 600)) { number in
                await load.outcome(number, host: "127.0.\(number % 300 / 150).\(number % 150 + 1)")
            }
            #expect(Set(outcomes) == ["200 hello"])
        }
    }

    static func number(of head: String) -> Int {
        Int(head.drop { $0 != "/" }.dropFirst().prefix { $0.isNumber }) ?? 0
    }
}

/// Requests to a server of the parent process, 64 at a time, over a transport of their own.
final class CurlLoad: Sendable {
    struct Usage {
        var descriptors: Int
        var memory: Int
        var exchanges: Int
    }

    let transport: CurlTransport
    private let port: Int

    init(port: Int) throws {
        self.port = port
        transport = try CurlTransport()
    }

    private func service(_ host: String) throws -> HTTPService {
        let url = try #require(URL(string: "http://\(host):\(port)"))
        var configuration = ServiceConfiguration(baseURL: url, idleTimeout: .patient)
        configuration.limits.body = 1 << 20
        configuration.cache = nil
        return HTTPService(configuration: configuration, transport: transport)
    }

    /// The outcome of a request for a number: every third one is a POST.
    func outcome(_ number: Int, host: String = "127.0.0.1", opens: Bool = false) async -> String {
        let body = number.isMultiple(of: 3) ? RequestBody.bytes(Data(count: 100_000)) : nil
        let request = ServiceRequest(body == nil ? .get : .post, "/\(number)", body: body)
        guard let service = try? service(host) else { return "no service" }
        guard opens else { return await service.outcome(request) }
        do {
            var pieces = try await service.open(request).bytes.makeAsyncIterator()
            _ = try await pieces.next()
            return "read"
        } catch {
            return "\(error)"
        }
    }

    /// Runs work for each number, 64 at a time.
    @discardableResult
    func run<R: Sendable>(_ count: Int, _ work: @escaping @Sendable (Int) async -> R) async -> [R] {
        await withTaskGroup(of: R.self) { group in
            var results: [R] = []
            for number in 0..<count {
                if number >= 64, let result = await group.next() { results.append(result) }
                group.addTask { await work(number) }
            }
            for await result in group { results.append(result) }
            return results
        }
    }

    /// The resources that the process uses, once the transport's thread has done everything that was submitted before.
    func usage(answers: Bool = true) async throws -> Usage {
        let outcome = await outcome(10)
        try #require(outcome == "200 hello" || !answers)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        let memory = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        return Usage(descriptors: descriptors, memory: memory << 10, exchanges: CurlExchange.runningCount)
    }
}
#endif
