/// Admits exchanges up to a limit per host and a limit in all, in the order of their arrival. A pure value.
struct CurlAdmission<Host: Hashable> {
    private struct Line {
        var running = 0
        var waiting: [UInt] = []
        /// The number of exchanges at the start of `waiting` that were admitted.
        var first = 0
        /// True if one connection to the host carries many exchanges.
        var isMultiplexed = false
    }

    /// The most exchanges at once over a connection that carries many.
    private static var multiplexedLimit: Int { 100 }

    private let hostLimit: Int
    private let limit: Int
    private var lines: [Host: Line] = [:]
    private var running = 0
    /// Exchanges that are within the limit of their host, and wait for the limit in all.
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

    /// Ends a running exchange. Returns the exchanges that run next.
    mutating func leave(_ host: Host) -> [UInt] {
        running -= 1
        leaveLine(host)
        return admit()
    }

    /// Removes a waiting exchange. Returns the exchanges that run next.
    mutating func cancel(_ number: UInt, _ host: Host) -> [UInt] {
        if let index = ready.firstIndex(where: { $0.number == number }) {
            ready.remove(at: index)
            leaveLine(host)
            return admit()
        }
        if lines[host] != nil { cancelled.insert(number) }
        return []
    }

    /// Sets whether a host carries many exchanges over one connection. Returns the exchanges that run next.
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
        // The protocol of up to 100 hosts is remembered.
        if let line = lines[host], line.running == 0, !line.isMultiplexed || lines.count > 100 { lines[host] = nil }
    }

    /// Admits the waiting exchanges of a host up to its limit.
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
