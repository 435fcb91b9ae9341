/// Which exchanges may run: so many at once to one host, so many in all, and the others in the order in which they
/// came. A pure value.
struct CurlAdmission<Host: Hashable> {
    private struct Line {
        var running = 0
        var waiting: [UInt] = []
        /// How many of those that wait have had their turn.
        var first = 0
        /// Whether one connection to the host carries many exchanges.
        var isMultiplexed = false
    }

    /// The most exchanges at once over a connection that carries many.
    private static var multiplexedLimit: Int { 100 }

    private let hostLimit: Int
    private let limit: Int
    private var lines: [Host: Line] = [:]
    private var running = 0
    /// Those that have a place at their host, and wait for one of all.
    private var ready: [(number: UInt, host: Host)] = []
    private var cancelled: Set<UInt> = []

    init(hostLimit: Int, limit: Int) {
        self.hostLimit = max(hostLimit, 1)
        self.limit = max(limit, 1)
    }

    /// Returns whether the exchange runs at once.
    mutating func enter(_ number: UInt, _ host: Host) -> Bool {
        var line = lines.removeValue(forKey: host) ?? Line()
        defer { lines[host] = line }
        guard line.running < limit(of: line) else {
            line.waiting.append(number)
            return false
        }
        line.running += 1
        guard running < limit else {
            ready.append((number, host))
            return false
        }
        running += 1
        return true
    }

    /// An exchange that ran has ended. Returns those that run next.
    mutating func leave(_ host: Host) -> [UInt] {
        running -= 1
        leaveLine(host)
        return admit()
    }

    /// An exchange that waited doesn't any more. Returns those that run next.
    mutating func cancel(_ number: UInt, _ host: Host) -> [UInt] {
        if let index = ready.firstIndex(where: { $0.number == number }) {
            ready.remove(at: index)
            leaveLine(host)
            return admit()
        }
        if lines[host] != nil { cancelled.insert(number) }
        return []
    }

    /// A host has turned out to carry many exchanges over one connection, or not to. Returns those that run next.
    mutating func setMultiplexed(_ isMultiplexed: Bool, _ host: Host) -> [UInt] {
        guard let line = lines[host], line.isMultiplexed != isMultiplexed else { return [] }
        lines[host]?.isMultiplexed = isMultiplexed
        promote(host)
        return admit()
    }

    private func limit(of line: Line) -> Int { line.isMultiplexed ? max(hostLimit, Self.multiplexedLimit) : hostLimit }

    private mutating func leaveLine(_ host: Host) {
        lines[host]?.running -= 1
        promote(host)
        // What is known of a host is worth keeping for some of them.
        if let line = lines[host], line.running == 0, !line.isMultiplexed || lines.count > 100 { lines[host] = nil }
    }

    /// Gives places at a host to those that wait for one.
    private mutating func promote(_ host: Host) {
        guard var line = lines.removeValue(forKey: host) else { return }
        defer { lines[host] = line }
        while line.running < limit(of: line), line.first < line.waiting.count {
            let number = line.waiting[line.first]
            line.first += 1
            guard cancelled.remove(number) == nil else { continue }
            line.running += 1
            ready.append((number, host))
        }
        if line.first == line.waiting.count || line.first > 1_000 {
            line.waiting.removeFirst(line.first)
            line.first = 0
        }
    }

    private mutating func admit() -> [UInt] {
        let admitted = ready.prefix(max(limit - running, 0)).map(\.number)
        ready.removeFirst(admitted.count)
        running += admitted.count
        return admitted
    }
}
