/// Which part of a whole a response brings (RFC 9110, 14.4).
struct ContentRange: Sendable, Hashable {
    /// The first byte, counted from 0.
    let first: Int64
    /// The last byte, which is part of it.
    let last: Int64
    /// How long the whole is. Nil if the server doesn't know.
    let total: Int64?

    /// Reads the header of a response. Nil if it says nothing that can be meant: it is none, ends before it begins or
    /// beyond the whole, or says that there is no such part.
    init?(_ header: String) {
        let words = header.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
            return nil
        }
        let total = Self.number(halves[1])
        guard halves[1] == "*" || total.map({ last < $0 }) == true else { return nil }
        self.init(first: first, last: last, total: total)
    }

    init(first: Int64, last: Int64, total: Int64?) {
        self.first = first
        self.last = last
        self.total = total
    }

    /// A number as HTTP writes it, digits and nothing else. The largest is left out: one more has to fit as well.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard text.consists(of: ByteSet("0123456789")), let number = Int64(text), number < .max else { return nil }
        return number
    }
}
