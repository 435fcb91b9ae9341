/// Bytes that somebody has made up, read as whatever is needed.
struct Input {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// The bytes up to one that is 0xFF.
    mutating func bytes() -> [UInt8] {
        let bytes = rest.prefix { $0 != 0xFF }
        rest = rest.dropFirst(bytes.count + 1)
        return Array(bytes)
    }

    /// The text up to a byte that is 0xFF.
    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// Everything that is left, cut into pieces as some byte says.
    mutating func pieces() -> [ArraySlice<UInt8>] {
        var step = byte()
        var pieces: [ArraySlice<UInt8>] = []
        while !rest.isEmpty {
            let length = Int(step % 13) + 1
            step = step &* 31 &+ 7
            pieces.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}
