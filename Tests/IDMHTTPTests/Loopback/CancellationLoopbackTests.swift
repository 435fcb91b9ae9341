import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Cancellation, of requests to a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample), .serialized)
struct CancellationLoopbackTests {
    typealias Answer = LoopbackServer.Answer

    @Test("a cancel at any moment ends the request and its connection")
    func moments() async throws {
        try await withServer { server, service in
            let gates = (0..<3).map { _ in TestGate() }
            let hello = Answer.text("hello")
            server.on(.get, "/head", answer: .never)
            server.on(.get, "/body", answer: hello.waiting(for: gates[0], at: .body(0)))
            server.on(.get, "/half", answer: hello.waiting(for: gates[1], at: .body(3)))
            server.on(.put, "/upload", answer: hello.reading(1 << 16, through: gates[2]))
            let requests = [
                ServiceRequest(.get, "/head"), ServiceRequest(.get, "/body"), ServiceRequest(.get, "/half"),
                ServiceRequest(.put, "/upload", body: .bytes(Data(count: 16 << 20))),
            ]
            for (index, request) in requests.enumerated() {
                let task = Task { await service.outcome(request) }
                if index == 0 {
                    _ = try await server.waitForRequest()
                } else {
                    try await gates[index - 1].waitForTasks(1)
                }
                task.cancel()
                #expect(await task.value == "CancellationError()")
                // While the server doesn't read, it can't see that nobody is there.
                if index == 3 { gates[2].open() }
                try await server.waitUntil { $0.openConnectionCount == 0 }
            }
        }
    }

    @Test("Before anything is sent, nothing is")
    func before() async throws {
        try await withServer { server, service in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await service.outcome()
            }
            #expect(await task.value == "CancellationError()")
            try await expectNothingSent(to: server)
        }
    }

    @Test("thousands of random cancels end each request once without leaks", .oneAtATime)
    func random() async throws {
        let count = Volume.of(5_000, normally: 500)
        try await TestScope.run {
            let server = try LoopbackServer(remembers: false)
            let hello = Answer.text("hello")
            let film = LoopbackServer.Resource(Data(repeating: UInt8(ascii: "x"), count: 300_000))
            server.on(.get, "/0", answer: hello)
            server.on(.get, "/1", answer: .resource(film))
            server.on(.get, "/2", answer: hello.cut(at: .body(2)))
            server.on(.get, "/3", answer: .redirect(to: "/0"))
            server.on(.get, "/4", answer: hello.dripping(1))
            server.on(.get, "/5", answer: .status(503))
            server.on(.get, "/6", answer: .resource(film).chunked(by: 1_000))
            server.on(.put, "/7", answer: hello)
            let ended = try await cancelAtRandom(server, count)
            #expect(ended.values.reduce(0, +) == count)
            let expected: Set = ["200 hello", "200 ", "truncated", "Cancellat", "status 50"]
            #expect(Set(ended.keys).isSubset(of: expected), "\(ended)")
            #expect(ended["Cancellat", default: 0] > count / 10, "\(ended)")
            #expect(ended["200 hello", default: 0] > count / 10, "\(ended)")
            // With the transport all its connections go: the server sees the end of each.
            try await server.waitUntil { $0.openConnectionCount == 0 }
            // The server itself is the one, and as long as it is nobody else has its port.
            #expect([1, nil].contains(Descriptors.count(port: server.port)))
            await server.stop()
        }
    }

    /// Makes requests over a transport of their own, and cancels many of them. How often they ended in which way.
    private func cancelAtRandom(_ server: LoopbackServer, _ number: Int) async throws -> [String: Int] {
        var service = server.service()
        // Most of fifty wait for a connection.
        service.transport = try TestTransport.current.made(connectionsPerHost: 8)
        var random = SplitMix(seed: 3)
        var ended: [String: Int] = [:]
        var count = 0
        while count < number {
            // Some are cancelled at once, some when others have ended, and some not at all.
            let tasks = (0..<50).map { index in
                let path = "/\(index % 8)"
                let request =
                    path == "/7"
                    ? ServiceRequest(.put, path, body: .bytes(Data(count: 100_000))) : ServiceRequest(.get, path)
                return Task { [service] in await service.outcome(request) }
            }
            count += tasks.count
            for task in tasks where Int.random(in: 0..<4, using: &random) == 0 { task.cancel() }
            let witness = Int.random(in: 0..<tasks.count, using: &random)
            _ = await tasks[witness].value
            for task in tasks where Bool.random(using: &random) { task.cancel() }
            for task in tasks {
                let outcome = await task.value
                ended[
                    outcome.hasPrefix("200 ") && outcome != "200 hello" ? "200 " : String(outcome.prefix(9)), default: 0
                ] += 1
            }
        }
        #expect(await service.outcome(ServiceRequest(.get, "/0")) == "200 hello")
        return ended
    }
}

/// The connections of this process.
private enum Descriptors {
    /// How many descriptors listen at a port, or are ends of connections with it. Nil where the system doesn't tell.
    static func count(port: Int) -> Int? {
        #if os(Linux)
        let own = ["tcp", "tcp6"].flatMap { inodes(port: port, in: "/proc/self/net/\($0)") }
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return own.contains { target == "socket:[\($0)]" }
        }
        #else
        nil
        #endif
    }

    private static func inodes(port: Int, in table: String) -> [Substring] {
        let hex = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        // A table of the system has no length that could be asked for: read as a stream.
        guard let file = FileHandle(forReadingAtPath: table), let data = try? file.readToEnd() else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 9, words[1].hasSuffix(suffix) || words[2].hasSuffix(suffix) else { return nil }
            return words[9]
        }
    }
}
