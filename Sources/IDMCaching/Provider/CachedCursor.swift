internal import IDMCore

/// One request to a cached provider on its way: does what its ``CachedRun`` says.
struct CachedCursor<Base: DataProvider, Store: CacheStore> where Store.Value == Base.Output {
    typealias Answer = Upstream<Base, Store>.Output

    private let provider: CachedDataProvider<Base, Store>
    private let input: Base.Input
    private let key: Store.Key
    private var run: CachedRun<Store.Value>
    /// Whether there is more to do than to look into the cache.
    private var hasMissed: Bool
    private var race: Race<Base, Store>?
    /// How old the entry was. Known from when it is found.
    private var age: Duration?
    private var writing: Upstream<Base, Store>.Writing?
    /// Begun before the cache is read: what has been heard by then stays known, also if it lands during the look.
    private var visit: Visit<Base.Input, Store.Key, Store.Value>?

    init(_ provider: CachedDataProvider<Base, Store>, _ input: Base.Input, _ key: Store.Key, hasMissed: Bool) {
        self.provider = provider
        self.input = input
        self.key = key
        self.hasMissed = hasMissed
        run = CachedRun(provider.policy, mayRace: !provider.store.answersAtOnce)
    }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Sourced<Store.Value>? {
        if !hasMissed {
            hasMissed = true
            // A cancel is never answered from the cache.
            try Task.checkCancellation()
            if let hit = await provider.hit(key) {
                run.finish()
                // The hook may have cancelled it.
                try Task.checkCancellation()
                return hit
            }
        }
        while true {
            switch run.step() {
            case .look: await look(isolation: isolation)
            case .ask: await ask()
            case .lookAndAsk: race = Race(provider, newVisit(), isolation: isolation)
            case .wait: await wait()
            case .tell(let value, let isCached): return Sourced(value, from: isCached ? .cache(age: age) : .remote)
            case .fail(let error):
                visit = nil
                throw error
            case .end:
                visit = nil
                // The answer was heard when it came. The end comes when it is safe.
                await writing?.finish()
                return nil
            }
        }
    }

    private func newVisit() -> Visit<Base.Input, Store.Key, Store.Value> {
        Visit(input, key, provider.store.ledger, provider.policy)
    }

    /// Reads the cache. A cancel ends the wait for a slow store at once.
    private mutating func look(isolation: isolated (any Actor)?) async {
        let (provider, visit) = (provider, newVisit())
        self.visit = visit
        let finding: Lookup<Store.Value>?
        if provider.store.answersAtOnce {
            finding = await provider.look(visit, inRace: false)
        } else {
            let mailbox = Mailbox<Lookup<Store.Value>>()
            // At once, so that what is there is delivered in this turn.
            LibraryTask.startAtOnce(isolation: isolation) { _ in
                mailbox.send(await provider.look(visit, inRace: false))
            }
            finding = await LibraryTask.reactingToCancel {
                try? await mailbox.next(isolation: isolation)
            } onCancel: {
                mailbox.abandon()
            }
        }
        if let finding, !Task.isCancelled { found(finding) } else { answered(.failure(CancellationError())) }
    }

    private mutating func ask() async {
        let visit = visit ?? newVisit()
        self.visit = nil
        do {
            try Task.checkCancellation()
            answered(.success(try await provider.ask(visit)))
        } catch {
            answered(.failure(error))
        }
    }

    private mutating func wait() async {
        switch await race?.next() {
        case .found(let finding): found(finding)
        case .answered(let answer): answered(answer)
        case nil: answered(.failure(CancellationError()))
        }
    }

    private mutating func found(_ finding: Lookup<Store.Value>) {
        age = finding.age
        if case .fresh = finding.finding { visit = nil }
        run.found(finding.finding)
    }

    private mutating func answered(_ answer: Result<Answer, any Error>) {
        switch answer {
        case .success(let answer):
            writing = answer.writing
            run.answered(answer.value)
        case .failure(let error):
            run.failed(error, isCancel: CancelReason(error) != nil)
        }
    }
}

/// What a read has found, and how old that was.
struct Lookup<Value: Sendable>: Sendable {
    let finding: CacheFinding<Value>
    let age: Duration?
}

extension CachedDataProvider {
    /// An entry that is there at once and is all that is heard. Nil wherever there is more to do, and nobody was told.
    ///
    /// Everybody's code makes its own of it, for its own types: told the types as it runs, it takes some ten times as
    /// long.
    @inlinable
    func hit(_ key: Store.Key) async -> Sourced<Store.Value>? {
        // Asked before the look: where all is quiet, what somebody has heard by now is in the store. Asked afterwards,
        // it could have landed between the two.
        guard policy.mayEndWithEntry, store.answersAtOnce, store.ledger.isQuiet(about: key),
            let entry = try? await store.get(key)
        else { return nil }
        let age = store.ledger.clock.age(of: entry.stamp)
        guard policy.accepts(age: age) else { return nil }
        store.ledger.report(.hit(key, age: age))
        return Sourced(entry.value, from: .cache(age: age))
    }

    /// Reads the cache, and tells the hook. A store that fails has nothing.
    ///
    /// While a slow store is read, or before it has written, somebody may have heard a newer answer than it has. That
    /// is then what the cache holds. In a race it isn't heard: the answer that is due is as new, and may be it.
    func look(_ visit: Visit<Base.Input, Store.Key, Store.Value>, inRace: Bool) async -> Lookup<Store.Value> {
        let (key, ledger) = (visit.key, store.ledger)
        var stored: CacheEntry<Store.Value>?
        var hasFailed = false
        do {
            stored = try await store.get(key)
        } catch {
            hasFailed = true
            ledger.report(.failed(key, error))
        }
        guard let (entry, isLater) = visit.finding(stored) else {
            if !hasFailed { ledger.report(.miss(key)) }
            return Lookup(finding: .nothing, age: nil)
        }
        if inRace, isLater {
            ledger.report(.miss(key))
            return Lookup(finding: .overtaken, age: nil)
        }
        let age = ledger.clock.age(of: entry.stamp)
        guard policy.accepts(age: age) else {
            ledger.report(.stale(key, age: age))
            return Lookup(finding: .stale(entry.value), age: age)
        }
        ledger.report(.hit(key, age: age))
        return Lookup(finding: .fresh(entry.value), age: age)
    }
}
