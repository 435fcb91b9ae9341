/// What becomes of a request that gets no answer, or not as it should. What is worse comes first.
enum ContractFate: CaseIterable, Comparable {
    case open, cancelled, unanswered, repeated
    /// That alone is no fault: a request may fail.
    case failed
    case mixedUp, changed

    var words: String {
        switch self {
        case .open: "did not end"
        case .cancelled: "ended as cancelled"
        case .unanswered: "ended without an answer"
        case .repeated: "called back more often than once"
        case .failed: "failed"
        case .mixedUp: "got the answer to another input"
        case .changed: "got another answer than alone"
        }
    }

    func words(count: Int) -> String { "\(count) of them \(words)" }

    /// Whether there is an answer, and only that is wrong.
    var isOfAnswer: Bool { self >= .mixedUp }

    /// Whether a cancel isn't to be blamed for it, where this comes without one. A strange answer is no reason for one
    /// that doesn't come, nor a failure for one that goes to another input.
    func isExcused(by usual: Self) -> Bool {
        self == .changed || isOfAnswer == usual.isOfAnswer
    }
}
