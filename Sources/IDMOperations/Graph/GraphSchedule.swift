/// Says which node of a graph starts when. A pure state machine over the numbers of the nodes.
///
/// Each event costs as much as it changes: the whole walk is linear in nodes and dependencies.
struct GraphSchedule: Sendable {
    private enum Stage: Sendable {
        case waiting
        /// Nothing comes before it any more, and it stands in the line.
        case ready
        /// The same, but it was paused when its turn came. It comes back to the line when it is resumed.
        case aside
        case running
        case ended
        /// A node before it has not succeeded, or everything was stopped.
        case skipped
    }

    private var stages: [Stage]
    private var unfinished: [Int]
    private let dependants: [[Int]]
    private var width: Int

    private var line: [Int] = []
    private var head = 0
    private var running = 0
    private var left: Int
    private var isPaused = false
    private var paused: Set<Int> = []

    /// Makes a schedule. The dependencies must have no cycle when it is used, see ``cycle(in:)``.
    ///
    /// - Parameters:
    ///   - dependencies: For each node, those that come before it, none of them twice.
    ///   - width: How many nodes run at the same time.
    init(dependencies: [[Int]], width: Int) {
        self.width = max(width, 1)
        stages = Array(repeating: .waiting, count: dependencies.count)
        unfinished = dependencies.map(\.count)
        left = dependencies.count
        var dependants = Array(repeating: [Int](), count: dependencies.count)
        for (node, before) in dependencies.enumerated() {
            for other in before { dependants[other].append(node) }
        }
        self.dependants = dependants
        for node in dependencies.indices where unfinished[node] == 0 { makeReady(node) }
    }

    /// Whether every node has ended or was skipped.
    var isOver: Bool { left == 0 }

    /// The nodes that were skipped so far.
    var skipped: [Int] {
        stages.indices.filter { stages[$0] == .skipped }
    }

    // MARK: Going on

    /// The next node to start, in the order in which nodes became ready. Nil if none may start now.
    mutating func next() -> Int? {
        guard !isPaused, running < width else { return nil }
        while head < line.count {
            let node = line[head]
            head += 1
            guard stages[node] == .ready else { continue }
            guard !paused.contains(node) else {
                stages[node] = .aside
                continue
            }
            stages[node] = .running
            running += 1
            return node
        }
        line.removeAll(keepingCapacity: true)
        head = 0
        return nil
    }

    /// A node that was running has ended. Those that depend on it become ready, or are skipped if it hasn't succeeded.
    /// Returns those that are skipped.
    @discardableResult
    mutating func end(_ node: Int, hasSucceeded: Bool) -> [Int] {
        guard stages[node] == .running else { return [] }
        stages[node] = .ended
        running -= 1
        left -= 1
        guard hasSucceeded else { return skip(dependants[node]) }
        for other in dependants[node] where stages[other] == .waiting {
            unfinished[other] -= 1
            if unfinished[other] == 0 { makeReady(other) }
        }
        return []
    }

    /// Skips every node that hasn't started.
    mutating func stop() {
        _ = skip(Array(stages.indices))
    }

    private mutating func makeReady(_ node: Int) {
        stages[node] = .ready
        line.append(node)
    }

    /// Skips nodes, and all that depend on them. A loop, because graphs may be deep.
    private mutating func skip(_ nodes: [Int]) -> [Int] {
        var open = nodes
        var skipped: [Int] = []
        while let node = open.popLast() {
            guard [.waiting, .ready, .aside].contains(stages[node]) else { continue }
            stages[node] = .skipped
            left -= 1
            skipped.append(node)
            open += dependants[node]
        }
        return skipped
    }

    // MARK: Pausing

    /// Whether a node is paused, by itself or with all.
    func isPaused(_ node: Int) -> Bool { isPaused || paused.contains(node) }

    mutating func pause() { isPaused = true }
    mutating func resume() { isPaused = false }

    mutating func pause(_ node: Int) {
        paused.insert(node)
    }

    mutating func resume(_ node: Int) {
        paused.remove(node)
        if stages[node] == .aside { makeReady(node) }
    }

    // MARK: Cycles

    /// A cycle, with its first node once more at its end, or nil if there is none. To be asked before anything has
    /// started, with the dependencies that this was made of.
    func cycle(in dependencies: [[Int]]) -> [Int]? {
        var schedule = self
        schedule.width = .max
        while let node = schedule.next() { schedule.end(node, hasSucceeded: true) }
        guard let first = schedule.stages.firstIndex(of: .waiting) else { return nil }
        // Each node that is left waits for another one that is left. Following them comes back to where it has been.
        var path: [Int] = []
        var places: [Int: Int] = [:]
        var node = first
        while places[node] == nil {
            places[node] = path.count
            path.append(node)
            guard let before = dependencies[node].first(where: { schedule.stages[$0] == .waiting }) else { return nil }
            node = before
        }
        return path[(places[node] ?? 0)...] + [node]
    }
}
