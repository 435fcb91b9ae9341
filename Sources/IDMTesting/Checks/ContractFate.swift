/// What becomes of a request that gets no answer, or not as it should. What is worse comes first.
enum ContractFate: CaseIterable {
    case open, cancelled, unanswered, repeated, mixedUp
    /// That alone is no fault: a request may fail.
    case failed

    var words: String {
        switch self {
        case .open: "did not end"
        case .cancelled: "ended as cancelled"
        case .unanswered: "ended without an answer"
        case .repeated: "called back more often than once"
        case .mixedUp: "got the answer to another input"
        case .failed: "failed"
        }
    }

    func words(count: Int) -> String { "\(count) of them \(words)" }
}
