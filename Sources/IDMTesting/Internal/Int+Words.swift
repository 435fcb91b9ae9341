extension Int {
    /// The count, or that there is none.
    var orNone: String { self == 0 ? "none" : "\(self)" }

    /// The count, with the word.
    var requests: String { self == 1 ? "1 request" : "\(self) requests" }
}
