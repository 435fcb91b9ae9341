/// The state of a ``BackpressureGate``: the pending amount, and whether producers wait.
struct BackpressureStateMachine {
    let limit: Int
    /// The pending amount.
    private(set) var count = 0
    private(set) var isShut = false
    /// False after a wait that timed out, until the gate opens again.
    private(set) var isPatient = true
    private var isOver = false
    /// The number of begins and ends of work so far.
    private(set) var works = 0
    /// The number of pieces of work in progress.
    private var workers = 0

    /// The maximum number of consecutive turns without work.
    private let idleTurns: Int
    /// The maximum number of turns with work.
    var mostTurns: Int { idleTurns + 4 }

    init(limit: Int, idleTurns: Int = 1) {
        self.limit = limit
        self.idleTurns = idleTurns
    }

    /// The result of an arrival at the gate.
    struct Entry {
        /// True if the gate has closed.
        let shuts: Bool
        /// The wait of the producer. Nil if it may continue.
        let waits: Wait?
    }

    /// A waiting producer, and the work it has observed.
    struct Wait {
        fileprivate var works: Int
        fileprivate var turns = 0
        fileprivate var idleTurns = 0
    }

    /// - Parameter mayWait: False for who must not wait, though the door be shut.
    mutating func enter(_ weight: Int, mayWait: Bool) -> Entry {
        // Where nothing is, even the heaviest has room.
        let shuts = mayWait && count > 0 && count + weight > limit && !isShut && !isOver
        if shuts { isShut = true }
        guard mayWait, isShut, isPatient else {
            count += weight
            return Entry(shuts: shuts, waits: nil)
        }
        return Entry(shuts: shuts, waits: Wait(works: works))
    }

    /// Ends one turn of a wait. Returns true if the producer waits for another one, because there was work in it. The
    /// total is limited, since others may wait for the producer.
    mutating func waitsOn(_ wait: inout Wait) -> Bool {
        guard isShut, isPatient else { return false }
        wait.idleTurns = workers > 0 || wait.works != works ? 0 : wait.idleTurns + 1
        wait.turns += 1
        wait.works = works
        isPatient = wait.idleTurns < idleTurns && wait.turns < mostTurns
        return isPatient
    }

    /// Adds the amount of a producer that has waited.
    mutating func pass(_ weight: Int) {
        count += weight
    }

    /// Counts the begin or the end of work behind the gate.
    mutating func work(_ begins: Bool) {
        workers += begins ? 1 : -1
        works += 1
    }

    /// Something has been done. Returns whether the door opens.
    mutating func leave(_ weight: Int) -> Bool {
        count -= weight
        return count <= limit / 2 && open()
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
