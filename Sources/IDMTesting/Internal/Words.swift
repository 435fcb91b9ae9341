extension Int {
    /// The count, or that there is none.
    package var orNone: String { self == 0 ? "none" : "\(self)" }

    /// The count, with the word.
    package var requests: String { of("request") }

    /// The count, with a word that takes an s.
    package func of(_ word: String) -> String { self == 1 ? "1 \(word)" : "\(self) \(word)s" }
}

extension [String] {
    /// The elements in a row, or that there are none.
    package var inWords: String { isEmpty ? "nothing" : joined(separator: ", ") }
}
