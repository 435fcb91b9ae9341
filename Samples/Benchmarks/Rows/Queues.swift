import IDMCore

/// Many calls at once that run one at a time.
enum Queues {
    static let rows: [Benchmark] = [
        .time("queue, 10,000 calls at once", calls, against: locked, limit: .figure(1_000), operations: 10_000),
        .time("queue, 10,000 calls at once", calls, against: streamed, limit: .figure(1_000), operations: 10_000),
        .time(
            "queue, 10,000 calls at once", calls, against: chained, limit: .times(1.2), by: .median,
            operations: 10_000),
        .growth(
            "queue, 100,000 calls at once", calls, from: 10_000, to: 100_000, against: "10,000 of them",
            limit: .times(1.2)),
        .figure(
            "queue: memory of a waiting call", in: .bytes, { try await bytesWaiting(in: integrator) },
            against: locked.name, { try await bytesWaiting(in: lockAndArray) }, limit: .figure(2_048)),
    ]

    private static let calls = side("calls under .queue", integrator)
    private static let locked = side("a lock and an array", lockAndArray)
    private static let streamed = side("an AsyncStream", stream)
    private static let chained = side("a chain of tasks", chainOfTasks)

    private static let integrator: Backlog.Line = { provider, tally in
        let integrator = Integrator(provider, executing: .queue)
        return { input in
            integrator.prepareCall(input).onSuccess { tally.add($0) }.call()
        }
    }

    private static let lockAndArray: Backlog.Line = { provider, tally in
        let queue = SerialQueue()
        return { input in
            queue.add { await report(input, of: provider, to: tally) }
        }
    }

    private static let stream: Backlog.Line = { provider, tally in
        let queue = StreamQueue()
        return { input in
            queue.add { await report(input, of: provider, to: tally) }
        }
    }

    private static let chainOfTasks: Backlog.Line = { provider, tally in
        let chain = TaskChain()
        return { input in
            chain.add { await report(input, of: provider, to: tally) }
        }
    }

    private static func report(_ input: Int, of provider: GatedEcho, to tally: Tally) async {
        guard let value = try? await provider.request(input) else { return tally.skip() }
        tally.add(value)
    }

    private static func side(_ name: String, _ line: @escaping Backlog.Line) -> Side {
        Side(name, proof: { sum(of: $0) }) { operations in
            let backlog = Backlog(of: operations, in: line)
            backlog.fill(operations)
            return await backlog.drain()
        }
    }

    /// The memory of each of many waiting operations.
    private static func bytesWaiting(in line: Backlog.Line) async throws -> Int? {
        let operations = 10_000
        let backlog = Backlog(of: operations, in: line)
        let bytes = try await Heap.growth { backlog.fill(operations) }
        try Fault.unless(await backlog.drain(), is: sum(of: operations), "what had waited")
        return bytes.map { $0 / operations }
    }
}
