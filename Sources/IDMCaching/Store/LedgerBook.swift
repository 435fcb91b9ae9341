/// Who has asked for what, what has been answered and written, and what was invalidated: what ``CacheLedger`` does,
/// without the doing.
///
/// Everything gets a number, in the order in which it begins. That of a question or an invalidation is the time, so
/// that all processes that share a store have one order. Only keys for which something is under way are known, so that
/// the book is as small as the work.
struct LedgerBook<Key: Hashable, Value> {
    struct Record {
        /// How many look at the key or work on it.
        var open = 0
        /// Nothing that is under way has begun before it.
        let begun: Int64
        /// Requests from before it aren't joined any more.
        var barrier: Int64 = 0
        /// Writes that began before it don't land, nor does the one that began with it.
        var invalidated: Int64 = 0
        /// The latest write that has landed.
        var landed: Int64 = 0
        /// The newest answer so far, by the beginning of its request.
        var newest: Answer?
        /// When the store was done with the newest answer: from then on it knows better.
        var stored: Int64?
        /// The writes that have begun and not ended, and the latest that has landed if it has failed since, as in
        /// another layer of its store.
        var writes: [Int64: WriteProgress] = [:]
    }

    struct Answer {
        /// The place of its question.
        let number: Int64
        let value: Value
        /// When it came. Nought if it was in the store already.
        let came: Int64
    }

    private var records: [Key: Record] = [:]
    private var lastNumber: Int64 = 0
    /// When everything was invalidated last.
    private var swept: Int64 = 0
    /// Requests from before it aren't joined: anything may have borne the tag that was invalidated.
    private var barrier: Int64 = 0
    private var tags: [String: Int64] = [:]
    /// How many tags there may be before those are looked for that nobody waits for any more.
    private var tagLimit = Self.leastTagLimit
    /// What has begun before it doesn't land with any tag: more tags were invalidated since than are told apart.
    private var tagged: Int64 = 0

    static var leastTagLimit: Int { 64 }
    static var greatestTagLimit: Int { 4_096 }

    /// How many tags it remembers.
    var tagCount: Int { tags.count }

    /// Whether nothing is under way.
    var isEmpty: Bool { records.isEmpty && tags.isEmpty }

    /// The number of the last thing that was.
    var now: Int64 { lastNumber }

    /// Whether something is under way for a key.
    func isKnown(_ key: Key) -> Bool { records[key] != nil }

    /// Somebody looks at a key, until ``leave(_:)``. Returns the number of the last thing that was before.
    @discardableResult
    mutating func enter(_ key: Key) -> Int64 {
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
    mutating func epoch(_ key: Key, refreshing: Bool) -> Int64 {
        if refreshing {
            let number = newNumber()
            records[key]?.barrier = number
        }
        return max(barrier, records[key]?.barrier ?? 0)
    }

    /// Something begins that may answer and write, until ``leave(_:)``.
    ///
    /// - Parameter time: The present, by a clock that all share who write into the store.
    mutating func begin(_ key: Key, at time: Int64 = 0) -> Int64 {
        enter(key)
        return newNumber(at: time)
    }

    /// An answer has come. Returns the one to be heard in its place, if a request that began later was answered before,
    /// and what nobody needs any more, to be let go of where no lock is held.
    mutating func answer(_ number: Int64, _ key: Key, _ value: Value) -> (instead: Value?, leftover: Value?) {
        if let newer = newer(key, than: number) { return (newer, nil) }
        let leftover = records[key]?.newest?.value
        let came = newNumber()
        records[key]?.newest = Answer(number: number, value: value, came: came)
        records[key]?.stored = nil
        return (nil, leftover)
    }

    /// The store is done with an answer. One that it has refused is nowhere, and what a look has found that began
    /// before may be older.
    mutating func settle(_ number: Int64, _ key: Key, hasLanded: Bool) {
        guard let record = records[key], record.newest?.number == number else { return }
        let now = newNumber()
        records[key]?.stored = now
        if !hasLanded { records[key]?.invalidated = max(record.invalidated, number) }
    }

    /// Whether the newest answer was invalidated, and what the store has is older than that answer, which was delivered.
    /// If so, nothing older lands from then on.
    mutating func isRevoked(_ number: Int64, _ key: Key, tags bearing: Set<String>) -> Bool {
        guard let record = records[key], record.newest?.number == number, record.landed <= number,
            !mayLand(number, record, bearing)
        else { return false }
        revoke(number, key)
        return true
    }

    /// The store has refused an answer. If it is the newest one, which was delivered, nothing older lands from then on.
    mutating func revoke(_ number: Int64, _ key: Key) {
        guard let record = records[key], record.newest?.number == number else { return }
        records[key]?.invalidated = max(record.invalidated, number)
    }

    // MARK: Writes that supersede others

    /// A write begins, which others may have to wait for.
    mutating func beginWrite(_ number: Int64, _ key: Key, _ progress: WriteProgress) {
        records[key]?.writes[number] = progress
    }

    /// A write has ended. If it has failed after it had landed, it isn't known where it is: what it supersedes fails too.
    mutating func endWrite(_ number: Int64, _ key: Key, hasFailed: Bool) {
        guard !hasFailed || records[key]?.landed != number else { return }
        records[key]?.writes[number] = nil
    }

    /// The write in the place of which another one was refused, if it hasn't ended, or has failed.
    func superseding(_ number: Int64, _ key: Key) -> WriteProgress? {
        records[key].flatMap { $0.landed > number ? $0.writes[$0.landed] : nil }
    }

    /// The write of the newest answer, if that was asked for later than something else and is still being written.
    func newerWrite(_ key: Key, than number: Int64) -> WriteProgress? {
        records[key].flatMap { record in
            record.newest.flatMap { $0.number > number ? record.writes[$0.number] : nil }
        }
    }

    // MARK: Looks

    /// The newest answer, whatever became of it, if it was asked for later than something else.
    func newer(_ key: Key, than number: Int64) -> Value? {
        records[key]?.newest.flatMap { $0.number > number ? $0.value : nil }
    }

    /// The newest answer, unless it was invalidated after it had been asked for.
    func newest(_ key: Key, tags bearing: (Value) -> Set<String>) -> Answer? {
        guard let record = records[key], let newest = record.newest,
            mayLand(newest.number, record, bearing(newest.value))
        else { return nil }
        return newest
    }

    /// What is to be heard by a look, given what it has found in the store.
    ///
    /// What the store was done with when the look began, it knows better: others may have written since. What it was
    /// not done with was heard before it was found, or may have been, and all that was found can be older. One that is
    /// known to be newer than all that was heard here was written by another process, and is the newest from now on. It
    /// is never heard in the place of what another look has found, which can have come after somebody has removed it.
    ///
    /// - Parameters:
    ///   - begun: What ``enter(_:)`` has returned for this look.
    ///   - stored: What was found.
    ///   - asked: When that was asked for: nought for the time before the machine was started, and the greatest number
    ///     if the store doesn't keep it.
    /// - Returns: What is to be heard, whether it has come during the look, and what nobody needs any more, to be let
    ///   go of where no lock is held.
    mutating func look(
        _ key: Key, since begun: Int64, stored: Value?, asked: Int64 = .max, tags bearing: (Value) -> Set<String>
    ) -> (value: Value?, isLater: Bool, leftover: Value?) {
        guard let record = records[key] else { return (stored, false, nil) }
        if let stored, asked < .max, asked > record.newest?.number ?? 0 {
            records[key]?.newest = Answer(number: asked, value: stored, came: 0)
            records[key]?.stored = 0
            records[key]?.landed = max(record.landed, asked)
            return (stored, false, record.newest?.value)
        }
        guard let newest = record.newest else { return (stored, false, nil) }
        if record.stored ?? .max <= begun { return (asked < newest.number ? nil : stored, false, nil) }
        guard mayLand(newest.number, record, bearing(newest.value)) else { return (nil, false, nil) }
        return (newest.value, newest.came > begun, nil)
    }

    /// A write is about to land. Returns whether it may. Asked again for the same write it answers the same,
    /// unless something has come between.
    ///
    /// It may land though a newer answer is known that is still to be written: that one can fail, or the process can
    /// end before it has landed. Once it has landed, or was refused, nothing older lands.
    mutating func claim(_ number: Int64, _ key: Key, tags bearing: Set<String>) -> Bool {
        guard let record = records[key], number >= record.landed, mayLand(number, record, bearing) else { return false }
        records[key]?.landed = number
        return true
    }

    mutating func invalidate(_ key: Key, at time: Int64 = 0) {
        guard records[key] != nil else { return }
        let number = newNumber(at: time)
        records[key]?.invalidated = number
        records[key]?.barrier = number
    }

    mutating func invalidate(tag: String, at time: Int64 = 0) {
        guard !records.isEmpty else { return }
        tags[tag] = newNumber(at: time)
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
    mutating func invalidateAll(at time: Int64 = 0) {
        guard !records.isEmpty else { return }
        swept = newNumber(at: time)
        barrier = swept
        tags = [:]
    }

    /// Whether nothing was invalidated that concerns what was asked for then.
    private func mayLand(_ number: Int64, _ record: Record, _ bearing: Set<String>) -> Bool {
        guard number > swept, number > record.invalidated else { return false }
        return bearing.isEmpty || (number >= tagged && !bearing.contains { number < tags[$0] ?? 0 })
    }

    private mutating func newNumber(at time: Int64 = 0) -> Int64 {
        lastNumber = max(lastNumber + 1, time)
        return lastNumber
    }
}
