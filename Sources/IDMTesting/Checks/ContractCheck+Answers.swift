extension ContractCheck {
    /// Asks many times at once with several inputs, and looks for those that get the answer of another input, three
    /// times in a row: what differs from time to time may be the same by chance.
    func mixUp(among count: Int) async throws -> String? {
        guard others != nil else { return nil }
        var mixedUp = 0
        for _ in 0..<3 {
            let trials = await ask(count, try make())
            defer { for trial in trials { trial.cancel() } }
            try await answered(trials)
            mixedUp = try await strangers(among: Array(zip(0..., trials.map(\.answer))))
            if mixedUp == 0 { return nil }
        }
        return words(for: ContractFate.mixedUp.words(count: mixedUp), among: count)
    }

    /// How many answers are those that another input gets alone, and not the one to their own. One that nobody gets
    /// alone says nothing: it may depend on what the provider has been asked before.
    func strangers(among answers: [(number: Int, answer: Provider.Output?)]) async throws -> Int {
        guard let others else { return 0 }
        var strangers = answers
        // Often: where an answer differs from time to time, another one may be it by chance.
        for _ in 0..<6 where !strangers.isEmpty {
            let alone = try await answersAlone()
            strangers = strangers.filter { number, answer in
                guard let answer, let own = alone[number % alone.count] else { return false }
                return !others.isSame(answer, own) && alone.contains { $0.map { others.isSame(answer, $0) } ?? false }
            }
        }
        return strangers.count
    }

    /// The answer that each input gets from a provider of its own.
    private func answersAlone() async throws -> [Provider.Output?] {
        var answers: [Provider.Output?] = []
        for number in 0...(others?.inputs.count ?? 0) { answers.append(try await askAlone(number)) }
        return answers
    }

    /// Asks a new provider, and returns the answer if that is kept.
    @discardableResult
    func askAlone(_ number: Int = 0) async throws -> Provider.Output? {
        let trial = ask(try make(), number: number)
        defer { trial.cancel() }
        try await answered([trial])
        return trial.answer
    }
}
