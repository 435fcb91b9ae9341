/// How many requests are made at once, with each of some inputs in turn.
struct CrowdSize: Sendable {
    let count: Int
    let inputCount: Int

    /// How many come with another input each. Half of them at most: of what is done by turns there are two.
    var turn: Int { max(1, min(inputCount, count / 2)) }

    /// Which are made together, one lot after the other: nobody overtakes the first with an input, or is overtaken by
    /// the last, since one of these may do the work for all with it.
    var lots: [Range<Int>] {
        guard count > 1 else { return [0..<count] }
        let bounds = [0, 1, turn, count - turn, count - 1, count]
        return zip(bounds, bounds.dropFirst()).map { $0..<$1 }.filter { !$0.isEmpty }
    }
}

/// Which of many requests are cancelled. Any of them may be the one that does the work for the others, or for those
/// with its own input.
enum CrowdCancel: CaseIterable {
    /// By turns, in no step with the inputs: who deals out answers in order is found to have lost count.
    case everySecond
    /// All inputs of one turn, and none of the next: the first with each input is among them.
    case everySecondTurn
    /// Where chance says who works for the others, it is among these mostly, unless there are many inputs.
    case mostAfterFirst, mostBeforeLast

    /// Those that differ.
    static func ways(inputCount: Int) -> [CrowdCancel] {
        allCases.filter { inputCount > 1 || $0 != .everySecondTurn }
    }

    /// Whether they are left alone for a moment: some meet only when they have done something else.
    var isLater: Bool {
        switch self {
        case .everySecond, .everySecondTurn: false
        case .mostAfterFirst, .mostBeforeLast: true
        }
    }

    /// Whether one of so many is cancelled.
    func isMeant(_ number: Int, of size: CrowdSize) -> Bool {
        switch self {
        case .everySecond: (number / size.inputCount + number % size.inputCount).isMultiple(of: 2)
        case .everySecondTurn: (number / size.turn).isMultiple(of: 2)
        case .mostAfterFirst: number % 10 != 0
        case .mostBeforeLast: number % 10 != 9 && number < size.count - size.turn
        }
    }
}
