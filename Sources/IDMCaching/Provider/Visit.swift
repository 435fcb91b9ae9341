internal import Synchronization
internal import IDMCore

/// One request's look at a key of a store. Keeps the key in the ledger for as long as it lasts, and so what others are
/// answered meanwhile.
final class Visit<Input: Sendable, Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let input: Input
    let key: Key
    private let ledger: CacheLedger<Key, Value>
    private let isFirst = Atomic(false)
    /// The number of the last thing that was before.
    let begun: Int
    private let takesWhatHasCome: Bool

    /// - Parameter takesWhatHasCome: Whether an answer will do that has come since this began.
    init(_ input: Input, _ key: Key, _ ledger: CacheLedger<Key, Value>, takesWhatHasCome: Bool) {
        self.input = input
        self.key = key
        self.ledger = ledger
        self.takesWhatHasCome = takesWhatHasCome
        begun = ledger.enter(key)
    }

    deinit {
        ledger.leave(key)
    }

    /// Whether the provider was asked for this one.
    var hasAsked: Bool { isFirst.load(ordering: .relaxed) }

    /// What somebody else was answered while this one found that nothing was there.
    var answerMeanwhile: (entry: CacheEntry<Value>, number: Int)? {
        takesWhatHasCome ? ledger.newest(key, since: begun) : nil
    }

    /// The newest answer, if it was still on its way into the store when this one began, and whether it has come since.
    var newest: (entry: CacheEntry<Value>, isLater: Bool)? { ledger.newest(key, read: begun) }

    /// The provider is asked for this one, and for all who share the question.
    func ask() {
        isFirst.store(true, ordering: .relaxed)
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
        let epoch: Int
    }

    let visit: Visit<Input, Key, Value>
    let epoch: Int

    var flight: Flight { Flight(key: visit.key, epoch: epoch) }
}
