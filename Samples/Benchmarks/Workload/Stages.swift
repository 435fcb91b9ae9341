import IDMCore

// The providers of the benchmarks. Each answers on its caller's actor, which has to be spelled out without a feature
// flag. None can be inlined, because a stage that fetches data could not.

/// Returns the input plus one at once.
struct Increment: DataProvider {
    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        input + 1
    }
}

/// Yields once, then answers like ``Increment``.
struct PoliteIncrement: DataProvider {
    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        await Task.yield()
        return input + 1
    }
}

/// Yields once, then returns the input. Throws if its task is cancelled.
struct Search: DataProvider {
    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        await Task.yield()
        try Task.checkCancellation()
        return input
    }
}

/// Sleeps, then answers like ``Increment``.
struct SlowIncrement: DataProvider {
    let duration: Duration

    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        try await Task.sleep(for: duration)
        return input + 1
    }
}

/// Returns the input when a gate opens.
struct GatedEcho: DataProvider {
    let gate: Gate

    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        await gate.pass()
        return input
    }
}
