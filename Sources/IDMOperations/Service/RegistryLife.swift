/// How far a registry is from its end, and what keeps it from it. A pure state machine.
///
/// What was made with it is stopped at its end: once it is closed, and nothing is being made in it any more, and no
/// scope of it is left.
struct RegistryLife: Sendable {
    private(set) var isClosed = false
    private var isOver = false
    /// How many makings and scopes need what was made.
    private var needs = 0

    /// Something is going to be made, or a scope is opened. Returns false if it is too late for that.
    mutating func begin() -> Bool {
        if !isClosed { needs += 1 }
        return !isClosed
    }

    /// What had begun is over. Returns whether this is the end.
    mutating func end() -> Bool {
        needs -= 1
        return reachesEnd()
    }

    /// Nothing more begins. Returns whether this is the end, and nil if it was closed before.
    mutating func close() -> Bool? {
        guard !isClosed else { return nil }
        isClosed = true
        return reachesEnd()
    }

    /// Once only.
    private mutating func reachesEnd() -> Bool {
        guard isClosed, needs == 0, !isOver else { return false }
        isOver = true
        return true
    }
}
