/// How many requests are made at once, with each of some inputs in turn.
struct CrowdSize: Sendable {
    let count: Int
    let inputCount: Int

    /// How many come with another input each, before the first input comes again. Half of them at most.
    var turn: Int { max(1, min(inputCount, count / 2)) }

    /// Which are made together, one lot after the other.
    ///
    /// - Parameter keepsTurns: Whether nobody overtakes the first with each input, or is overtaken by the last: one of
    ///   these may do the work for all with it. The first of all and the last of all are alone in any case.
    func lots(keepsTurns: Bool) -> [Range<Int>] {
        guard count > 1 else { return [0..<count] }
        let turns = keepsTurns ? [turn, count - turn] : []
        let bounds = [0, 1] + turns + [count - 1, count]
        return zip(bounds, bounds.dropFirst()).map { $0..<$1 }.filter { !$0.isEmpty }
    }
}

/// Which of many requests are cancelled. Any of them may be the one that does the work for the others, or for those
/// with its own input.
enum CrowdCancel: CaseIterable {
    /// In no step with the inputs: who deals out answers in order is found to have lost count.
    case everySecond
    /// The first with each input are among them, or the last.
    case firstHalf, lastHalf, lastHalfLater
    /// All but the first and one in the middle, or all but one in the middle and the last turn of the inputs. Where
    /// chance says who works for the others, it is mostly among these, unless there are many inputs.
    case mostAfterFirst, mostBeforeLast

    /// Those that are needed: of one input the first is among every second one, and later the last is among most.
    static func ways(inputCount: Int) -> [CrowdCancel] {
        inputCount > 1 ? allCases : [.everySecond, .lastHalf, .mostAfterFirst, .mostBeforeLast]
    }

    /// Whether it matters who comes first and last with each input. Otherwise more of them are made together.
    var keepsTurns: Bool { self != .everySecond }

    /// Whether they are left alone for a moment: some meet only when they have done something else.
    var isLater: Bool {
        switch self {
        case .everySecond, .firstHalf, .lastHalf: false
        case .lastHalfLater, .mostAfterFirst, .mostBeforeLast: true
        }
    }

    /// Whether one of so many is cancelled.
    func isMeant(_ number: Int, of size: CrowdSize) -> Bool {
        let half = size.count / 2
        let (isInFirstTurn, isInLastTurn) = (number < size.turn, number >= size.count - size.turn)
        return switch self {
        case .everySecond: (number / size.inputCount + number % size.inputCount).isMultiple(of: 2)
        case .firstHalf: number < half
        case .lastHalf, .lastHalfLater: number >= half
        case .mostAfterFirst: number % half != 0
        case .mostBeforeLast: !isInLastTurn && (number != half - 1 || isInFirstTurn)
        }
    }
}
