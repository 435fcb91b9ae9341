/// The responses that a cache keeps in memory, by address. The least recently used are evicted first.
struct CacheMemory: Sendable {
    private struct Entry: Sendable {
        var responses: [StoredResponse]
        var lastUse: UInt64
        var cost: Int { responses.reduce(0) { $0 + $1.cost } }
    }

    private let byteLimit: Int
    private var entries: [String: Entry] = [:]
    private var uses: UInt64 = 0
    private(set) var bytes = 0

    /// The most responses of one address, which differ in what `Vary` names or in who asked.
    private static let mostOfAddress = 16

    init(byteLimit: Int) { self.byteLimit = max(byteLimit, 0) }

    /// The most bytes of one response. A longer one isn't kept: it would push out most others.
    var mostOfResponse: Int { byteLimit / 4 }

    mutating func responses(of address: String) -> [StoredResponse] {
        guard entries[address] != nil else { return [] }
        uses += 1
        entries[address]?.lastUse = uses
        return entries[address]?.responses ?? []
    }

    mutating func keep(_ response: StoredResponse, of address: String) {
        var responses = entries[address]?.responses ?? []
        responses.removeAll { $0.credentials == response.credentials && $0.selected == response.selected }
        responses.append(response)
        replace(Array(responses.suffix(Self.mostOfAddress)), of: address)
    }

    mutating func replace(_ responses: [StoredResponse], of address: String) {
        bytes -= entries[address]?.cost ?? 0
        let kept = responses.filter { $0.cost <= mostOfResponse }
        guard !kept.isEmpty else {
            entries[address] = nil
            return
        }
        uses += 1
        let entry = Entry(responses: kept, lastUse: uses)
        entries[address] = entry
        bytes += entry.cost
        if bytes > byteLimit { evict() }
    }

    mutating func remove(_ address: String) { replace([], of: address) }

    mutating func removeAll() {
        (entries, bytes) = ([:], 0)
    }

    mutating func removePrivate() {
        for (address, entry) in entries where entry.responses.contains(where: { $0.credentials != nil }) {
            replace(entry.responses.filter { $0.credentials == nil }, of: address)
        }
    }

    /// Removes those that were used longest ago, a tenth more than has to go: so it is done once for many.
    private mutating func evict() {
        for (address, _) in entries.map({ ($0.key, $0.value.lastUse) }).sorted(by: { $0.1 < $1.1 }) {
            guard bytes > byteLimit / 10 * 9 else { return }
            remove(address)
        }
    }
}
