struct ByteSet: Sendable, Equatable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: StaticString) {
        characters.withUTF8Buffer { for byte in $0 { insert(byte) } }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
    }

    func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case ..<64: low & (1 << UInt64(byte)) != 0
        case ..<128: high & (1 << UInt64(byte - 64)) != 0
        default: false
        }
    }

    func union(_ other: ByteSet) -> ByteSet {
        var result = self
        result.low |= other.low
        result.high |= other.high
        return result
    }

    static let digits = ByteSet("0123456789")
    static let alphanumerics = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz").union(digits)
    static let hexDigits = digits.union(ByteSet("ABCDEFabcdef"))
    /// The characters that a URL may contain anywhere unescaped (RFC 3986).
    static let unreserved = alphanumerics.union(ByteSet("-._~"))
    /// The characters of a path segment, besides percent escapes.
    static let pathSegment = unreserved.union(ByteSet("!$&'()*+,;=:@"))
    /// The characters that a form contains unescaped.
    static let form = alphanumerics.union(ByteSet("*-._"))
    /// The names of methods and headers (RFC 9110).
    static let token = alphanumerics.union(ByteSet("!#$%&'*+-.^_`|~"))
}

extension StringProtocol {
    /// Returns true if the text isn't empty, and all its characters are in the set.
    func consists(of set: ByteSet) -> Bool {
        !isEmpty && utf8.allSatisfy(set.contains)
    }
}
