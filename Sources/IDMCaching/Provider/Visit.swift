internal import Synchronization

/// One request's look at a key of a store. Keeps the key in the ledger for as long as it lasts, and so what others are
/// answered meanwhile.
final class Visit<Input: Sendable, Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let input: Input
    let key: Key
    private let ledger: CacheLedger<Key, Value>
    private let wasAsked = Atomic(false)
    /// The number of the last thing that was before.
    let begun: Int64
    private let policy: CachePolicy

    init(_ input: Input, _ key: Key, _ ledger: CacheLedger<Key, Value>, _ policy: CachePolicy) {
        self.input = input
        self.key = key
        self.ledger = ledger
        self.policy = policy
        begun = ledger.enter(key)
    }

    deinit {
        ledger.leave(key)
    }

    /// Whether the provider was asked for this one.
    var hasAsked: Bool { wasAsked.load(ordering: .relaxed) }

    /// What somebody else was answered while this one found that nothing was there, if it will do.
    var answerMeanwhile: (entry: CacheEntry<Value>, number: Int64)? {
        guard policy.maxAge != nil, let newest = ledger.newest(key), newest.came > begun,
            policy.accepts(age: ledger.clock.age(of: newest.value.stamp))
        else { return nil }
        return (newest.value, newest.number)
    }

    /// What is there, given what the store has found, and whether it has come since this one began.
    func finding(_ stored: CacheEntry<Value>?) -> (entry: CacheEntry<Value>, isLater: Bool)? {
        ledger.look(key, since: begun, stored: stored)
    }

    /// The provider is asked for this one, and for all who share the question.
    func ask() {
        wasAsked.store(true, ordering: .relaxed)
    }

    /// What this one asks for. It is shared with whoever asks for the same.
    func question(refreshing: Bool) -> Question<Input, Key, Value> {
        Question(visit: self, epoch: ledger.epoch(key, refreshing: refreshing))
    }
}

/// A visit that asks the provider, and what tells it from those that it may not share an answer with.
struct Question<Input: Sendable, Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Which questions may be answered together.
    struct Flight: Hashable, Sendable {
        let key: Key
        /// What was invalidated, and each refresh, begins a new one.
        let epoch: Int64
    }

    let visit: Visit<Input, Key, Value>
    let epoch: Int64

    var flight: Flight { Flight(key: visit.key, epoch: epoch) }
}
