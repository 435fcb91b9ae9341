import IDMCore

/// Calls with three handlers, on the main actor and off it.
enum Calls {
    static let rows: [Benchmark] = [
        .time("call, 3 handlers, on the main actor", onMain, against: immediateTask, limit: .times(2.8), by: .median),
        .allocations("call, 3 handlers, on main: allocations", onMain, against: handlers, limit: .figure(10)),
        .time("call, 3 handlers, off the main actor", awaited, against: taskValue, limit: .times(3), by: .median),
    ]

    /// True if an immediate answer is delivered before `call()` returns.
    private static var deliversAtOnce: Bool {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
    }

    private static let onMain = Side("call()", proof: { sum(of: $0, plus: 1) }) { @MainActor operations in
        let integrator = Integrator(Increment())
        let screen = Screen()
        for input in 0..<operations {
            let task = integrator.prepareCall(input)
                .onBeginning { screen.begin() }
                .onSuccess { screen.show($0) }
                .onCompletion { screen.complete() }
                .call()
            if deliversAtOnce { try screen.check(input + 1) } else { await task.finish() }
        }
        try screen.check(operations)
        return screen.total
    }

    private static let immediateTask = Side("Task.immediate", proof: { sum(of: $0, plus: 1) }) {
        @MainActor operations in
        let provider = Increment()
        let screen = Screen()
        for input in 0..<operations {
            let call = ImmediateCall(
                onBeginning: { screen.begin() },
                onSuccess: { screen.show($0) },
                onCompletion: { screen.complete() }
            )
            let task = call.start(provider, input)
            if deliversAtOnce { try screen.check(input + 1) } else { try await task.value }
        }
        try screen.check(operations)
        return screen.total
    }

    private static let handlers = Side("the 3 closures alone", proof: { 3 * $0 }) { @MainActor operations in
        let screen = Screen()
        var total = 0
        for _ in 0..<operations {
            let handlers = KeptHandlers(
                onBeginning: { screen.begin() },
                onSuccess: { screen.show($0) },
                onCompletion: { screen.complete() }
            )
            total += handlers.isolatedCount
        }
        return total
    }

    private static let awaited = Side("call().value", proof: { sum(of: $0, plus: 1) }) { operations in
        let integrator = Integrator(Increment())
        let (beginnings, completions) = (Tally(expecting: operations), Tally(expecting: operations))
        let values = Tally(expecting: operations)
        var total = 0
        for input in 0..<operations {
            total += try await integrator.prepareCall(input)
                .onBeginning { beginnings.skip() }
                .onSuccess { values.add($0) }
                .onCompletion { completions.skip() }
                .call().value
        }
        await beginnings.finish()
        await completions.finish()
        try Fault.unless(await values.sum(), is: total, "what the handlers have heard")
        return total
    }

    static let taskValue = Side("Task { x }.value", proof: { sum(of: $0, plus: 1) }) { operations in
        let provider = Increment()
        var total = 0
        for input in 0..<operations {
            total += try await Task { try await provider.request(input) }.value
        }
        return total
    }
}
