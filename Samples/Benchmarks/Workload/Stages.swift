import IDMCore

// What the benchmarks ask. Every one of them answers on the actor that asks, which without a feature flag has to be
// spelled out; none of them can be inlined, as a stage that fetches something could not.

/// Answers at once with the input and one more.
struct Increment: DataProvider {
    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        input + 1
    }
}

/// Lets others go first, and then answers like ``Increment``.
struct PoliteIncrement: DataProvider {
    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        await Task.yield()
        return input + 1
    }
}

/// Lets others go first, and answers with the input unless nobody wants it any more.
struct Search: DataProvider {
    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        await Task.yield()
        try Task.checkCancellation()
        return input
    }
}

/// Takes its time, and then answers like ``Increment``.
struct SlowIncrement: DataProvider {
    let duration: Duration

    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        try await Task.sleep(for: duration)
        return input + 1
    }
}

/// Answers with the input once a gate is open.
struct GatedEcho: DataProvider {
    let gate: Gate

    @inline(never)
    nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
        await gate.pass()
        return input
    }
}
