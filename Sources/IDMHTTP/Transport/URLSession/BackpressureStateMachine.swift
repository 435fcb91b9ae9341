/// The state of a ``BackpressureGate``: the number of pending bytes, and whether producers wait.
struct BackpressureStateMachine {
    let limit: Int
    /// The number of pending bytes.
    private(set) var count = 0
    private(set) var isShut = false
    /// False after a wait that timed out, until the gate opens again.
    private(set) var isPatient = true
    private var isOver = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The result of an arrival at the gate.
    struct Entry {
        /// True if the gate has closed.
        let shuts: Bool
        /// True if the producer is to wait, and then to pass.
        let waits: Bool
    }

    /// - Parameter mayWait: False for a producer that must not wait, even if the gate is closed.
    mutating func enter(_ count: Int, mayWait: Bool) -> Entry {
        // An empty gate has room for any number of bytes.
        let shuts = mayWait && self.count > 0 && self.count + count > limit && !isShut && !isOver
        if shuts { isShut = true }
        let waits = mayWait && isShut && isPatient
        if !waits { self.count += count }
        return Entry(shuts: shuts, waits: waits)
    }

    /// Adds the bytes of a producer that has waited.
    mutating func pass(_ count: Int, timedOut: Bool) {
        if timedOut, isShut { isPatient = false }
        self.count += count
    }

    /// Removes bytes that have been read. Returns true if the gate opens.
    mutating func leave(_ count: Int) -> Bool {
        self.count -= count
        return self.count <= limit / 2 && open()
    }

    /// Opens the gate for good. Returns true if it was closed.
    mutating func end() -> Bool {
        isOver = true
        return open()
    }

    private mutating func open() -> Bool {
        guard isShut else { return false }
        isShut = false
        isPatient = true
        return true
    }
}
