/// What a process tells the others that share its partition: 64 bytes, all numbers with their least byte first.
///
///      0  time                         24  kind, 1 byte
///      8  how many bytes more          25  length, 4 bytes
///     16  how many entries more        29  checksum of everything else, 3 bytes
///                                      32  subject
struct DiskChange: Sendable, Hashable {
    enum Kind: UInt64, Sendable {
        /// An entry was written.
        case written = 1
        /// An entry was removed. Nothing lands in its place that was asked for before.
        case removed
        /// An entry had to go, or couldn't be used.
        case lost
        /// Nothing lands any more that bears a tag and was asked for before.
        case tagRemoved
        /// Nothing lands any more that was asked for before.
        case allRemoved
        /// What was said before did not happen. How much there is has to be counted anew. With a subject, it is the
        /// write of that entry which was asked for at this time.
        case withdrawn
        /// A journal begins, with a name of its own.
        case begun
        /// It goes on from where another has ended. Who hasn't read that one doesn't know what was done before.
        case follows
        /// What comes now was said since this start of the machine: only then its times mean anything.
        case started
        /// Another journal has taken the place of this one, or was about to.
        case ended
    }

    /// How many bytes a change takes.
    static let size = 64

    var kind: Kind
    /// The digest of the key, or of the tag.
    var subject = Digest.zero
    /// Of a write, and of what keeps writes out, when it was asked for; of everything else when it was done. See
    /// ``MachineTime``.
    var time: Int64
    /// By how much the files are longer together.
    var bytes = 0
    /// How many entries there are more.
    var entries = 0
    /// Of an entry that was written, how long it is.
    var length: UInt32 = 0

    /// Where its checksum is.
    private static let checkPlace = 29..<32

    var encoded: [UInt8] {
        let last = kind.rawValue | UInt64(length) << 8
        let numbers = [UInt64(bitPattern: time), Self.number(bytes), Self.number(entries), last]
        var all = numbers.flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } } + subject.bytes
        let check = all.withUnsafeBytes { Self.check($0) }
        all.replaceSubrange(Self.checkPlace, with: check)
        return all
    }

    private static func number(_ number: Int) -> UInt64 { UInt64(bitPattern: Int64(number)) }

    private static func check(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        withUnsafeBytes(of: Checksum.of(bytes, leavingOut: checkPlace).littleEndian) {
            Array($0.prefix(checkPlace.count))
        }
    }
}

extension DiskChange {
    /// Reads a change. Nil where none is, or a part of one: before the next one that is whole, after a process that was
    /// killed.
    init?(_ bytes: UnsafeRawBufferPointer) {
        func number(_ index: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        guard bytes.count == Self.size, let kind = Kind(rawValue: number(3) & 0xff),
            bytes[Self.checkPlace].elementsEqual(Self.check(bytes))
        else { return nil }
        self.init(
            kind: kind, subject: Digest(bytes: Array(bytes[32...])), time: Int64(bitPattern: number(0)),
            bytes: Int(clamping: Int64(bitPattern: number(1))), entries: Int(clamping: Int64(bitPattern: number(2))),
            length: UInt32(truncatingIfNeeded: number(3) >> 8))
    }

    /// All changes in a part of a journal, which begins where one begins.
    static func all(in bytes: [UInt8]) -> [DiskChange] {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - size, by: size).compactMap { start in
                DiskChange(UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]))
            }
        }
    }
}

extension Digest {
    /// Stands where no digest is needed.
    static let zero = Digest(bytes: Array(repeating: 0, count: 32))

    /// A name that nothing else has.
    static var random: Digest { Digest(bytes: (0..<32).map { _ in UInt8.random(in: .min ... .max) }) }
}

/// What other processes have done that may be newer than a write that is about to land here.
struct OthersChanges: Sendable {
    /// Beyond the limit, changes are no longer distinguished: a write that was requested before the latest of them may be
    /// outdated or not.
    static let limit = 1_024

    /// When everything was removed last. All know of it.
    private(set) var swept = Int64.min
    /// Until when anything may have been changed, of which nothing is known any more.
    private var unknown = Int64.min
    private var keys: [Digest: Times] = [:]
    private var tags: [Digest: Int64] = [:]

    /// When an entry was written or removed last, and before that: what is told last may be withdrawn.
    private struct Times: Sendable {
        var last: Int64
        var before = Int64.min

        mutating func add(_ time: Int64) {
            guard time != last else { return }
            (last, before) = (max(time, last), max(min(time, last), before))
        }
    }

    mutating func hear(_ change: DiskChange) {
        // What was said before the machine was started comes before all that was asked for.
        guard change.time > .min else { return }
        switch change.kind {
        case .written, .removed: keys[change.subject, default: Times(last: change.time)].add(change.time)
        case .withdrawn:
            if let times = keys[change.subject], times.last == change.time {
                keys[change.subject] = times.before > .min ? Times(last: times.before) : nil
            }
        case .tagRemoved: tags[change.subject] = max(tags[change.subject] ?? .min, change.time)
        case .allRemoved:
            swept = max(swept, change.time)
            forget(everythingBefore: change.time)
        case .follows:
            unknown = max(unknown, change.time)
            forget(everythingBefore: change.time)
        case .lost, .begun, .started, .ended: break
        }
        if keys.count + tags.count > Self.limit {
            unknown = max(unknown, (keys.values.map(\.last) + Array(tags.values)).max() ?? .min)
            forget(everythingBefore: unknown)
        }
    }

    private mutating func forget(everythingBefore time: Int64) {
        keys = keys.filter { $0.value.last > time }
        tags = tags.filter { $0.value > time }
    }

    enum Verdict {
        case free
        /// Its key was written or removed since it was asked for.
        case overtaken
        /// It was invalidated since, and its key alone was not: what is in its place may be older.
        case invalidated
        /// Anything may have been done since. What is in its place goes, unless that is newer.
        case unknown
    }

    /// What becomes of a write, by what others have done since it was asked for.
    func verdict(on order: WriteOrder) -> Verdict {
        let asked = order.asked
        if asked < keys[order.digest]?.last ?? .min { return .overtaken }
        if asked < swept { return .invalidated }
        let isTagged = !tags.isEmpty && order.tags.contains { asked < tags[Digest(of: $0.utf8)] ?? .min }
        if isTagged { return .invalidated }
        return asked < unknown ? .unknown : .free
    }
}

/// What others have changed, for those who keep entries in memory.
enum DiskNews: Sendable {
    case entries(Set<Digest>, tagged: Bool)
    case anything

    init(_ changes: [DiskChange]) {
        var entries: Set<Digest> = []
        var tagged = false
        for change in changes {
            switch change.kind {
            case .written, .removed, .lost: entries.insert(change.subject)
            case .tagRemoved: tagged = true
            case .allRemoved:
                self = .anything
                return
            case .withdrawn, .begun, .follows, .started, .ended: break
            }
        }
        self = .entries(entries, tagged: tagged)
    }
}
