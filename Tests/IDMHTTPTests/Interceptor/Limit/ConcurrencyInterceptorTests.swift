import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A turnstile", .timeLimit(.ample))
struct TurnstileTests {
    /// So many who come, go, and give up, in any order.
    private struct Walk: Explorable {
        enum Guest: Hashable { case outside, inside, waiting(Int), gone }
        enum Move { case enter(Int), leave(Int), giveUp(Int) }

        let width: Int
        var turnstile: Turnstile<Int>
        var guests: [Guest]
        var order: [Int] = []

        init(width: Int, guests: Int) {
            self.width = width
            turnstile = Turnstile(width: width)
            self.guests = Array(repeating: .outside, count: guests)
        }

        struct Footprint: Hashable {
            let guests: [Guest]
            let order: [Int]
        }

        var footprint: Footprint { Footprint(guests: guests, order: order) }

        var moves: [Move] {
            guests.indices.flatMap { index -> [Move] in
                switch guests[index] {
                case .outside: [.enter(index)]
                case .inside: [.leave(index)]
                case .waiting: [.giveUp(index)]
                case .gone: []
                }
            }
        }

        mutating func make(_ move: Move) throws(Violation) {
            switch move {
            case .enter(let index):
                if let place = turnstile.enter(index) {
                    guests[index] = .waiting(place)
                    order.append(index)
                } else {
                    try require(order.isEmpty, "somebody was overtaken")
                    guests[index] = .inside
                }
            case .leave(let index):
                guests[index] = .gone
                let next = turnstile.leave()
                try require(next == order.first, "\(String(describing: next)) came in, and not \(order)")
                if let next {
                    order.removeFirst()
                    guests[next] = .inside
                }
            case .giveUp(let index):
                guard case .waiting(let place) = guests[index] else { return }
                try require(turnstile.giveUp(place) == index, "somebody else gave up")
                try require(turnstile.giveUp(place) == nil, "gave up twice")
                guests[index] = .gone
                order.removeAll { $0 == index }
            }
            let inside = guests.filter { $0 == .inside }.count
            try require(inside <= width, "too many are inside")
            try require(order.isEmpty || inside == width, "somebody waits for nothing")
            try require(turnstile.counts == (inside, order.count), "\(turnstile.counts)")
        }
    }

    @Test("lets as many in as there is room for, in their order, explored", arguments: [1, 2, 3])
    func explored(width: Int) {
        let exploration = Exploration(of: Walk(width: width, guests: 5))

        #expect(exploration.violation == nil)
        #expect(exploration.states > 300)
    }
}

@Suite("A limit of requests", .timeLimit(.ample))
struct ConcurrencyInterceptorTests {
    /// A service whose requests wait until the test lets them go, one after the other in the order of their names.
    private struct Course {
        let gates = (0..<4).map { _ in Signal() }
        let running = Watched<[String]>([])
        let queued = Watched(0)
        let limit: ConcurrencyInterceptor
        let service: HTTPService
        let origin: ServiceOrigin

        init(width: Int) throws {
            let (gates, running, queued) = (gates, running, queued)
            limit = ConcurrencyInterceptor(width) { queued.change { $0 += 1 } }
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

    @Test("lets so many go to a host at once, and the others in their order")
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

    @Test("lets a request that is cancelled leave the queue, and the next one have its turn")
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

    @Test("gives a place back when a request fails, and when it is cancelled on its way")
    func failures() async throws {
        let limit = ConcurrencyInterceptor(1)
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

    @Test("holds while many come at once")
    func many() async throws {
        let crowd = Watched((inside: 0, most: 0))
        let transport = ScriptedTransport { _ in
            crowd.change { $0 = ($0.inside + 1, max($0.most, $0.inside + 1)) }
            defer { crowd.change { $0.inside -= 1 } }
            return .text("")
        }
        let limit = ConcurrencyInterceptor(3)
        let service = try HTTPService(transport, interceptors: [limit])

        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { _ = try await service.request(ServiceRequest(.get, "/")) } }
            try await group.waitForAll()
        }
        #expect((1...3).contains(crowd.value.most))
        #expect(limit.counts(try #require(ServiceOrigin(service.configuration.baseURL))) == (0, 0))
    }

    @Test("stays whole while many come, and some are cancelled")
    func racing() async throws {
        let limit = ConcurrencyInterceptor(3)
        let service = try HTTPService(ScriptedTransport("x"), interceptors: [limit])
        let tasks = (0..<500).map { index in
            let task = Task { _ = try? await service.request(ServiceRequest(.get, "/")) }
            if index.isMultiple(of: 3) { task.cancel() }
            return task
        }
        for (index, task) in tasks.enumerated() where index % 5 == 1 { task.cancel() }
        for task in tasks { await task.value }

        #expect(limit.counts(try #require(ServiceOrigin(service.configuration.baseURL))) == (0, 0))
        #expect(try await service.request(ServiceRequest(.get, "/")).status == 200)
    }
}
