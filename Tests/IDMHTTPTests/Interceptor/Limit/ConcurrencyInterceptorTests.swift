import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A limit of requests", .timeLimit(.ample))
struct ConcurrencyInterceptorTests {
    /// A service whose requests wait until the test lets them go, one after the other in the order of their names.
    private struct Course {
        let gates = (0..<4).map { _ in Signal() }
        let running = Observed<[String]>([])
        let queued = Observed(0)
        let limit: ConcurrencyInterceptor
        let service: HTTPService
        let origin: ServiceOrigin

        init(width: Int) throws {
            let (gates, running, queued) = (gates, running, queued)
            limit = ConcurrencyInterceptor(limit: width) { queued.change { $0 += 1 } }
            let transport = ScriptedTransport { request in
                let name = request.url.lastPathComponent
                running.change { $0.append(name) }
                try await gates[Int(name) ?? 0].wait()
                return .text(name)
            }
            service = try HTTPService(transport, interceptors: [limit])
            origin = try #require(ServiceOrigin(service.configuration.baseURL))
        }

        func start(_ index: Int) -> Task<String, any Error> {
            Task { try await service.request(ServiceRequest(.get, "/\(index)")).text }
        }
    }

    @Test("requests beyond the limit of a host wait in order")
    func order() async throws {
        let course = try Course(width: 2)
        var tasks: [Task<String, any Error>] = []
        for index in 0..<4 {
            tasks.append(course.start(index))
            if index < 2 {
                try await course.running.wait { $0.count == index + 1 }
            } else {
                try await course.queued.wait { $0 == index - 1 }
            }
        }
        #expect(course.limit.counts(course.origin) == (2, 2))
        course.gates[1].open()
        try await course.running.wait { $0 == ["0", "1", "2"] }
        for gate in course.gates { gate.open() }
        for (index, task) in tasks.enumerated() { #expect(try await task.value == "\(index)") }
        #expect(course.running.value == ["0", "1", "2", "3"])
        #expect(course.limit.counts(course.origin) == (0, 0))
    }

    @Test("a cancelled waiting request leaves the queue to the next")
    func cancelled() async throws {
        let course = try Course(width: 1)
        let first = course.start(0)
        try await course.running.wait { $0 == ["0"] }
        let second = course.start(1)
        try await course.queued.wait { $0 == 1 }
        let third = course.start(2)
        try await course.queued.wait { $0 == 2 }

        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        for gate in course.gates { gate.open() }
        #expect(try await first.value == "0")
        #expect(try await third.value == "2")
        #expect(course.running.value == ["0", "2"])
    }

    @Test("a failed or cancelled request frees its place")
    func failures() async throws {
        let limit = ConcurrencyInterceptor(limit: 1)
        let service = try HTTPService(ScriptedTransport(status: 500), interceptors: [limit])
        for _ in 0..<3 { #expect(await service.error()?.status == 500) }

        let course = try Course(width: 1)
        let first = course.start(0)
        try await course.running.wait { $0 == ["0"] }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        course.gates[1].open()
        #expect(try await course.start(1).value == "1")
    }

    @Test("counts each host by itself")
    func hosts() async throws {
        let course = try Course(width: 1)
        let first = course.start(0)
        try await course.running.wait { $0 == ["0"] }
        var other = course.service
        other.configuration = try api("https://other")
        other.transport = ScriptedTransport("other")

        #expect(try await other.request(ServiceRequest(.get, "/")).text == "other")
        course.gates[0].open()
        #expect(try await first.value == "0")
    }

    @Test("the limit holds for 500 requests, some of which are cancelled")
    func many() async throws {
        let crowd = Observed((inside: 0, most: 0))
        let transport = ScriptedTransport { _ in
            crowd.change { $0 = ($0.inside + 1, max($0.most, $0.inside + 1)) }
            defer { crowd.change { $0.inside -= 1 } }
            return .text("")
        }
        let limit = ConcurrencyInterceptor(limit: 3)
        let service = try HTTPService(transport, interceptors: [limit])
        let tasks = (0..<500).map { index in
            let task = Task { _ = try? await service.request(ServiceRequest(.get, "/")) }
            if index.isMultiple(of: 3) { task.cancel() }
            return task
        }
        for (index, task) in tasks.enumerated() where index % 5 == 1 { task.cancel() }
        for task in tasks { await task.value }

        #expect((1...3).contains(crowd.value.most))
        #expect(limit.counts(try #require(ServiceOrigin(service.configuration.baseURL))) == (0, 0))
        #expect(try await service.request(ServiceRequest(.get, "/")).status == 200)
    }

    @Test("a request with an absolute link counts for the origin of its link")
    func absoluteLink() async throws {
        let limit = ConcurrencyInterceptor(limit: 1)
        let link = try #require(URL(string: "https://cdn.example.com/a"))
        let origin = try #require(ServiceOrigin(link))
        let transport = ScriptedTransport { _ in .text("\(limit.counts(origin).running)") }
        let service = try HTTPService(transport, interceptors: [limit])

        #expect(try await service.request(ServiceRequest(.get, url: link)).text == "1")
    }
}
