/// Who has asked for what, what has been answered and written, and what was invalidated: what ``CacheLedger`` does,
/// without the doing.
///
/// Everything gets a number, in the order in which it begins. Only keys for which something is under way are known, so
/// that the book is as small as the work.
struct LedgerBook<Key: Hashable, Value> {
    struct Record {
        /// How many look at the key or work on it.
        var open = 0
        /// Nothing that is under way has begun before it.
        let begun: Int
        /// Requests from before it aren't joined any more.
        var barrier = 0
        /// Writes that began before it don't land, nor does the one that began with it.
        var invalidated = 0
        /// The latest write that has landed.
        var landed = 0
        /// The newest answer so far, by the beginning of its request.
        var newest: (number: Int, value: Value, came: Int)?
        /// When the store was done with the newest answer: from then on it knows better.
        var stored: Int?
    }

    private var records: [Key: Record] = [:]
    private var lastNumber = 0
    /// When everything was invalidated last.
    private var swept = 0
    /// Requests from before it aren't joined: anything may have borne the tag that was invalidated.
    private var barrier = 0
    private var tags: [String: Int] = [:]
    /// How many tags there may be before those are looked for that nobody waits for any more.
    private var tagLimit = Self.leastTagLimit
    /// What has begun before it doesn't land with any tag: more tags were invalidated since than are told apart.
    private var tagged = 0

    static var leastTagLimit: Int { 64 }
    static var greatestTagLimit: Int { 4_096 }

    /// How many tags it remembers.
    var tagCount: Int { tags.count }

    /// Whether nothing is under way.
    var isEmpty: Bool { records.isEmpty && tags.isEmpty }

    /// Whether something is under way for a key.
    func isKnown(_ key: Key) -> Bool { records[key] != nil }

    /// Somebody looks at a key, until ``leave(_:)``. Returns the number of the last thing that was before.
    @discardableResult
    mutating func enter(_ key: Key) -> Int {
        // A key that doesn't equal itself, as a number that is none, would never be found again.
        if key == key { records[key, default: Record(begun: lastNumber)].open += 1 }
        return lastNumber
    }

    /// Somebody has done with a key. Returns what was kept for others, to be let go of where no lock is held.
    mutating func leave(_ key: Key) -> (key: Key, value: Record)? {
        guard let index = records.index(forKey: key) else { return nil }
        records.values[index].open -= 1
        guard records.values[index].open == 0 else { return nil }
        let leftover = records.remove(at: index)
        if records.isEmpty { (tags, tagLimit) = ([:], Self.leastTagLimit) }
        return leftover
    }

    /// The number of the requests that may be joined now. A refresh joins none that has begun before.
    mutating func epoch(_ key: Key, refreshing: Bool) -> Int {
        if refreshing {
            let number = newNumber()
            records[key]?.barrier = number
        }
        return max(barrier, records[key]?.barrier ?? 0)
    }

    /// Something begins that may answer and write, until ``leave(_:)``.
    mutating func begin(_ key: Key) -> Int {
        enter(key)
        return newNumber()
    }

    /// An answer has come. Returns the one to be heard in its place, if a request that began later was answered before,
    /// and what nobody needs any more, to be let go of where no lock is held.
    mutating func answer(_ number: Int, _ key: Key, _ value: Value) -> (instead: Value?, leftover: Value?) {
        if let newer = newer(key, than: number) { return (newer, nil) }
        let leftover = records[key]?.newest?.value
        let came = newNumber()
        records[key]?.newest = (number, value, came)
        records[key]?.stored = nil
        return (nil, leftover)
    }

    /// The store is done with an answer. One that it has refused is nowhere, and what a look has found that began before
    /// may be older.
    mutating func store(_ number: Int, _ key: Key, hasLanded: Bool) {
        guard let record = records[key], record.newest?.number == number else { return }
        let now = newNumber()
        records[key]?.stored = now
        if !hasLanded { records[key]?.invalidated = max(record.invalidated, number) }
    }

    /// Whether the newest answer was invalidated: what the store has is older than what was heard.
    func isRevoked(_ number: Int, _ key: Key, tags bearing: Set<String>) -> Bool {
        records[key]?.newest?.number == number && !mayLand(number, key, bearing)
    }

    /// The number of the last thing that was.
    var now: Int { lastNumber }

    /// The newest answer, whatever became of it, if it was asked for later than something else.
    func newer(_ key: Key, than number: Int) -> Value? {
        records[key]?.newest.flatMap { $0.number > number ? $0.value : nil }
    }

    /// The newest answer, unless it was invalidated after it had been asked for, and when it came.
    func newest(_ key: Key, tags bearing: (Value) -> Set<String>) -> (number: Int, value: Value, came: Int)? {
        guard let newest = records[key]?.newest, mayLand(newest.number, key, bearing(newest.value)) else { return nil }
        return newest
    }

    /// What a look has found, given what it has found in the store, and whether that came during the look.
    ///
    /// What the store was done with when the look began, it knows better: others may have written since. What it was not
    /// done with was heard before it was found, or may have been, and all that was found can be older.
    func look(
        _ key: Key, since begun: Int, stored: Value?, tags bearing: (Value) -> Set<String>
    ) -> (value: Value, isLater: Bool)? {
        guard let record = records[key], record.newest != nil, record.stored ?? .max > begun else {
            return stored.map { ($0, false) }
        }
        return newest(key, tags: bearing).map { ($0.value, $0.came > begun) }
    }

    /// A write is about to land. Returns whether it may. Asked twice for the same write, it answers the same.
    mutating func claim(_ number: Int, _ key: Key, tags bearing: Set<String>) -> Bool {
        // Also when the newer answer was invalidated and is nowhere: it was heard.
        guard let record = records[key], number >= max(record.landed, record.newest?.number ?? 0),
            mayLand(number, key, bearing)
        else { return false }
        records[key]?.landed = number
        return true
    }

    /// Whether nothing was invalidated that concerns what was asked for then.
    private func mayLand(_ number: Int, _ key: Key, _ bearing: Set<String>) -> Bool {
        guard number > swept, number > records[key]?.invalidated ?? 0 else { return false }
        return bearing.isEmpty || (number >= tagged && !bearing.contains { number < tags[$0] ?? 0 })
    }

    mutating func invalidate(_ key: Key) {
        guard records[key] != nil else { return }
        let number = newNumber()
        records[key]?.invalidated = number
        records[key]?.barrier = number
    }

    mutating func invalidate(tag: String) {
        guard !records.isEmpty else { return }
        tags[tag] = newNumber()
        barrier = lastNumber
        if tags.count > tagLimit { forgetTags() }
    }

    /// Lets go of the tags that were invalidated before anything that is still under way has begun. As rarely as they
    /// double in number, so that the time it takes is spread over them.
    private mutating func forgetTags() {
        let oldest = records.values.lazy.map(\.begun).min() ?? lastNumber
        tags = tags.filter { $0.value > oldest }
        if tags.count > Self.greatestTagLimit {
            tagged = lastNumber
            tags = [:]
        }
        tagLimit = max(Self.leastTagLimit, 2 * tags.count)
    }

    /// Everything is invalid. What was answered last is remembered for those who answer late, as it was heard before.
    mutating func invalidateAll() {
        guard !records.isEmpty else { return }
        swept = newNumber()
        barrier = swept
        tags = [:]
    }

    private mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
