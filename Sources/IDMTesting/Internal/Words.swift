extension Int {
    /// The count, or that there is none.
    var orNone: String { self == 0 ? "none" : "\(self)" }

    /// The count, with the word.
    var requests: String { of("request") }

    /// The count, with a word that takes an s.
    func of(_ word: String) -> String { self == 1 ? "1 \(word)" : "\(self) \(word)s" }
}

extension [String] {
    /// The elements in a row, or that there are none.
    var inWords: String { isEmpty ? "nothing" : joined(separator: ", ") }
}
