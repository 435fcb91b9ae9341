import IDMCore

/// The cost of an integrator between a caller and a provider.
enum Requests {
    static let rows: [Benchmark] = [
        .time(
            "request of an integrator", integrated, against: plain, limit: .over(350), check: cancelsRequests),
        .time(
            "request of an integrator, no handlers", integrated, against: Calls.taskValue, limit: .times(2.5),
            by: .median),
    ]

    private static let integrated = Side("integrator.request", proof: { sum(of: $0, plus: 1) }) { operations in
        let integrator = Integrator(Increment())
        var total = 0
        for input in 0..<operations {
            total += try await integrator.request(input)
        }
        return total
    }

    private static let plain = Side("provider.request", proof: { sum(of: $0, plus: 1) }) { operations in
        let provider = Increment()
        var total = 0
        for input in 0..<operations {
            total += try await provider.request(input)
        }
        return total
    }

    /// The integrator cancels the requests made through it, which is part of its cost.
    private static func cancelsRequests() async throws {
        let integrator = Integrator(SlowIncrement(duration: .seconds(600)))
        let begun = Gate()
        integrator.onBeginning { begun.open() }
        let waiting = Task { try await integrator.request(0) }
        await begun.pass()
        integrator.cancel()
        do {
            _ = try await waiting.value
        } catch IntegrationError.cancelled(.cancelled) {
            return
        }
        throw Fault("a request went on after its integrator had cancelled it")
    }
}
