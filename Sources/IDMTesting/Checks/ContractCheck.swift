import IDMCore

/// The rules of ``DataProviderContract``, held against new providers.
struct ContractCheck<Provider: DataProvider>: Sendable {
    typealias Probe = ContractProbe<Provider>
    typealias Rule = DataProviderContract.Rule

    let inputs: [Provider.Input]
    /// Compares two answers. Nil, if answers can't be compared.
    let isEqual: (@Sendable (Provider.Output, Provider.Output) -> Bool)?
    let limits: DataProviderContract.Limits
    let make: @Sendable () throws -> Provider

    private static var requestCount: Int { 20 }

    /// Returns what is wrong, or nil.
    func violation(of rule: Rule) async throws -> String? {
        switch rule {
        case .answersOnce: try await answersOnce()
        case .reactsToCancel: try await reactsToCancel()
        case .answersConcurrentRequests: try await answersConcurrentRequests()
        case .isReleased: try await isReleased()
        }
    }

    // MARK: The rules

    private func answersOnce() async throws -> String? {
        let probe = try ask(make())
        defer { probe.cancel() }
        try await waitForAnswer(of: [probe])
        if let fault = probe.fault { return "a request should end once, with a value or an error, and \(fault)" }
        if probe.isCallback {
            // A second callback may come as long as the completion is held.
            _ = try await happens(within: limits.cancel) { try await probe.waitUntilOver() }
            if probe.callbacks > 1 {
                return "a request should call back once, and it called back \(probe.callbacks) times"
            }
        }
        return nil
    }

    private func reactsToCancel() async throws -> String? {
        let early = ContractProbe(try make(), inputs[0], clock: limits.clock, cancelled: true)
        guard try await ends(early) else {
            return "a request whose task is cancelled before it should end, and it did not"
        }
        // One value may be on its way when the cancel comes, but not each time.
        var lateValues = 0
        for _ in 0..<3 {
            let probe = try ask(make())
            _ = try await happens(within: limits.beforeCancel) { try await probe.waitUntilEnded() }
            guard probe.cancel() else { return nil }
            guard try await ends(probe) else { return "a cancelled request should end, and it did not" }
            if probe.isCallback { _ = try await happens(within: limits.cancel) { try await probe.waitUntilOver() } }
            guard probe.hasValueAfterCancel else { return nil }
            lateValues += 1
        }
        return "a cancelled request should end without a value, and one came in each of \(lateValues) tries"
    }

    private func answersConcurrentRequests() async throws -> String? {
        let alone = isEqual == nil ? [] : try await answersOfEachInput()
        let provider = try make()
        for cancelsSome in [false, true] {
            let probes = (0..<Self.requestCount).map { ask(provider, $0) }
            var rest = Array(probes.enumerated())
            if cancelsSome {
                _ = try await happens(within: limits.beforeCancel) {
                    for probe in probes { try await probe.waitUntilEnded() }
                }
                for (number, probe) in rest where number.isMultiple(of: 4) { probe.cancel() }
                for (number, probe) in rest where number.isMultiple(of: 4) {
                    guard try await ends(probe) else {
                        return "a cancelled request of \(probes.count) should end, and it did not"
                    }
                }
                rest.removeAll { $0.offset.isMultiple(of: 4) }
            }
            try await waitForAnswer(of: rest.map(\.element))
            let beside = cancelsSome ? "beside cancelled ones" : "at once"
            for (number, probe) in rest {
                if let fault = probe.fault {
                    return "each of \(probes.count) requests \(beside) should end, and \(fault)"
                }
                if let fault = try wrongAnswer(probe, number % inputs.count, alone) {
                    return "each of \(probes.count) requests \(beside) should get its own answer, and \(fault)"
                }
            }
            for probe in probes { probe.cancel() }
        }
        return nil
    }

    /// Asks a new provider with each input in turn.
    private func answersOfEachInput() async throws -> [Provider.Output?] {
        let provider = try make()
        var answers: [Provider.Output?] = []
        for number in inputs.indices {
            let probe = ask(provider, number)
            try await waitForAnswer(of: [probe])
            answers.append(probe.answer)
            probe.cancel()
        }
        return answers
    }

    private func wrongAnswer(_ probe: Probe, _ number: Int, _ alone: [Provider.Output?]) throws -> String? {
        guard let isEqual, let answer = probe.answer, let own = alone[number], !isEqual(answer, own) else { return nil }
        let isOthers = alone.contains { $0.map { isEqual(answer, $0) } == true }
        return isOthers ? "one got the answer of another input" : "one got an answer that its input doesn't get alone"
    }

    private func isReleased() async throws -> String? {
        let held = try await use()
        let watch = (limits.clock as? any TrackedClock)?.workload
        for pause in (0..<11).map({ 1 << $0 }) where held.isAlive {
            // In real time: another thread may be about to release the provider.
            watch?.beginActivity()
            try? await Task.sleep(for: .milliseconds(pause))
            watch?.endActivity()
        }
        return held.isAlive ? "nothing should hold the provider after its requests, and something does" : nil
    }

    /// Waits for the answer of one request, cancels a second one, and returns a weak reference to the provider, if it is an object.
    private func use() async throws -> Weak {
        let provider = try make()
        let weak = Weak(provider)
        let (answered, cancelled) = (ask(provider), ask(provider))
        cancelled.cancel()
        try await waitForAnswer(of: [answered])
        answered.cancel()
        for probe in [answered, cancelled] { _ = try await ends(probe) }
        return weak
    }

    // MARK: Requests and limits

    private func ask(_ provider: Provider, _ number: Int = 0) -> Probe {
        Probe(provider, inputs[number % inputs.count], clock: limits.clock)
    }

    private func ends(_ probe: Probe) async throws -> Bool {
        _ = try await happens(within: limits.cancel) { try await probe.waitUntilEnded() }
        return probe.hasEnded
    }

    private func waitForAnswer(of probes: [Probe]) async throws {
        _ = try await happens(within: limits.answer) { for probe in probes { try await probe.waitUntilAnswered() } }
    }

    /// Waits for something, up to a limit on the clock of the check. Returns whether it happened.
    private func happens(
        within limit: Duration, _ wait: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        let clock = limits.clock
        let result = Observed<Bool?>(nil)
        let waiting = LibraryTask.startAtOnce(clock: clock, isolation: nil) { _ in
            guard (try? await wait()) != nil else { return }
            result.change { $0 = $0 ?? true }
        }
        defer { waiting.cancel() }
        if let result = result.value { return result }
        let timer = LibraryTask.startAtOnce(clock: clock, isolation: nil) { _ in
            guard (try? await clock.pause(for: limit)) != nil else { return }
            result.change { $0 = $0 ?? false }
        }
        defer { timer.cancel() }
        try await result.wait { $0 != nil }
        return result.value == true
    }
}

/// A weak reference to a provider, if it is an object.
private struct Weak {
    weak let object: AnyObject?

    init(_ provider: some Sendable) {
        object = type(of: provider) is AnyObject.Type ? provider as AnyObject : nil
    }

    var isAlive: Bool { object != nil }
}
