import IDMCore

/// Many calls in one burst. Each call replaces the previous one.
enum Bursts {
    static let rows: [Benchmark] = [
        .time(
            "latest, 10,000 calls in a burst", calls, against: tasks, limit: .times(1.5), by: .median, operations: size),
        .time(
            "latest, the same on the main actor", onMain, against: tasksOnMain, limit: .times(1.1), by: .median,
            operations: size),
        .figure(
            "latest: memory a call leaves behind", in: .bytes, { try await bytesKept() },
            against: tasks.name, { try await bytesKept(by: tasks) }, limit: .figure(1)),
    ]

    private static let size = 10_000

    // Off the main actor an early call may have its answer before the next one is made. The last one always has it.

    private static let calls = Side("calls under .latest", proof: { $0 - 1 }) { operations in
        await burst(of: operations, by: Integrator(Search(), executing: .latest))
    }

    private static let tasks = Side("cancel and replace", proof: { $0 - 1 }) { operations in
        let tally = Tally(expecting: operations)
        var current: Task<Void, Never>?
        for input in 0..<operations {
            current?.cancel()
            current = Task { await report(input, to: tally) }
        }
        return await tally.greatest()
    }

    // On the main actor nothing is heard before the burst is over: only the last call has an answer.

    private static let onMain = Side("calls under .latest", proof: { $0 - 1 }) { @MainActor operations in
        let tally = Tally(expecting: operations)
        let integrator = Integrator(Search(), executing: .latest)
        for input in 0..<operations {
            integrator.prepareCall(input)
                .onSuccess { tally.add($0) }
                .onCancel { _ in tally.skip() }
                .call()
        }
        // Releasing an integrator cancels its calls.
        return await tally.sum(keeping: integrator)
    }

    private static let tasksOnMain = Side("cancel and replace", proof: { $0 - 1 }) { @MainActor operations in
        let tally = Tally(expecting: operations)
        var current: Task<Void, Never>?
        for input in 0..<operations {
            current?.cancel()
            current = Task { await report(input, to: tally) }
        }
        return await tally.sum()
    }

    private static func burst(of operations: Int, by integrator: Integrator<Int, Int>) async -> Int {
        let tally = Tally(expecting: operations)
        for input in 0..<operations {
            integrator.prepareCall(input)
                .onSuccess { tally.add($0) }
                .onCancel { _ in tally.skip() }
                .call()
        }
        return await tally.greatest(keeping: integrator)
    }

    private nonisolated(nonsending) static func report(_ input: Int, to tally: Tally) async {
        guard let value = try? await Search().request(input) else { return tally.skip() }
        tally.add(value)
    }

    /// The memory that a call leaves behind after some bursts, while the integrator is alive.
    private static func bytesKept() async throws -> Int? {
        let integrator = Integrator(Search(), executing: .latest)
        return try await bytesKept {
            try Fault.unless(await burst(of: size, by: integrator), is: size - 1, "the newest answer")
        }
    }

    private static func bytesKept(by side: Side) async throws -> Int? {
        try await bytesKept { _ = try await side.run(size) }
    }

    private static func bytesKept(by burst: () async throws -> Void) async throws -> Int? {
        let bursts = 5
        let bytes = try await Heap.growth {
            for _ in 0..<bursts { try await burst() }
            // The last tasks have been heard, and may be on their way out on another thread.
            try await Task.sleep(for: .milliseconds(50))
        }
        return bytes.map { $0 / (bursts * size) }
    }
}
