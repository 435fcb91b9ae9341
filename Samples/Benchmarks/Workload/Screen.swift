/// Records the events of calls on the main actor.
@MainActor
final class Screen {
    private(set) var beginnings = 0
    private(set) var total = 0
    private(set) var completions = 0

    func begin() { beginnings += 1 }

    func show(_ value: Int) { total += value }

    func complete() { completions += 1 }

    /// Throws unless this number of calls was recorded from beginning to end.
    func check(_ calls: Int) throws {
        try Fault.unless(beginnings, is: calls, "beginnings that were heard")
        try Fault.unless(completions, is: calls, "completions that were heard")
    }
}
