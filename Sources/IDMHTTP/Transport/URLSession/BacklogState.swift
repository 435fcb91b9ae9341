/// How much waits somewhere, and a door in front of it: what ``Backlog`` does, without the doing.
struct BacklogState {
    let limit: Int
    /// How much waits.
    private(set) var count = 0
    private(set) var isShut = false
    /// False once somebody has waited in vain, until the door is open again.
    private(set) var isPatient = true
    private var isOver = false
    /// How often something that takes its time has begun or ended.
    private(set) var works = 0
    /// How much of that is going on.
    private var workers = 0

    /// How often somebody waits in a row in which there is no work.
    private let idleTurns: Int
    /// How often somebody waits at most, where there is work: a few times more.
    var mostTurns: Int { idleTurns + 4 }

    init(limit: Int, idleTurns: Int = 1) {
        self.limit = limit
        self.idleTurns = idleTurns
    }

    /// What becomes of somebody who comes.
    struct Entry {
        /// Whether the door has been shut for them.
        let shuts: Bool
        /// Whether they wait. Nil if they are in.
        let waits: Wait?
    }

    /// Somebody who waits, and what they have seen of the work behind the door.
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

    /// Somebody has waited for a turn. Returns whether they wait for another one, since there has been work meanwhile,
    /// or not for long without any. Not for ever: others may wait for them.
    mutating func waitsOn(_ wait: inout Wait) -> Bool {
        guard isShut, isPatient else { return false }
        wait.idleTurns = workers > 0 || wait.works != works ? 0 : wait.idleTurns + 1
        wait.turns += 1
        wait.works = works
        isPatient = wait.idleTurns < idleTurns && wait.turns < mostTurns
        return isPatient
    }

    /// Somebody who has waited is in.
    mutating func pass(_ weight: Int) {
        count += weight
    }

    /// Something begins that takes its time and waits for nobody at the door, or has ended.
    mutating func work(_ begins: Bool) {
        workers += begins ? 1 : -1
        works += 1
    }

    /// Something has been done. Returns whether the door opens.
    mutating func leave(_ weight: Int) -> Bool {
        count -= weight
        return count <= limit / 2 && open()
    }

    /// Nobody waits any more. Returns whether the door opens.
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
