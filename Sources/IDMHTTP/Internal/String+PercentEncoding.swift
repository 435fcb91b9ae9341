extension StringProtocol {
    /// The text with each byte that isn't in the set as a percent-escape.
    func percentEncoded(keeping kept: ByteSet) -> String {
        if utf8.allSatisfy(kept.contains) { return String(self) }
        return String(decoding: encodedBytes(keeping: kept), as: UTF8.self)
    }

    /// The text as the value of a form: spaces become `+`, and nothing that could end the value stays as it is.
    func formEncoded() -> String {
        percentEncoded(keeping: .form.union(ByteSet(" "))).replacing(" ", with: "+")
    }

    private func encodedBytes(keeping kept: ByteSet) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count * 3)
        for byte in utf8 {
            if kept.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
        return bytes
    }

    /// True if each `%` is followed by two hexadecimal digits.
    var hasSoundEscapes: Bool {
        var digits = 0
        for byte in utf8 {
            if digits > 0 {
                guard ByteSet.hexDigits.contains(byte) else { return false }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            }
        }
        return digits == 0
    }

    /// True for `.` and `..`, with escaped or unescaped dots: a step in a path, not a name.
    var isDotSegment: Bool {
        // No more than two dots, of three bytes each. Most segments are seen not to be one by how they begin.
        guard let first = utf8.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "%"), utf8.count <= 6 else {
            return false
        }
        let plain = lowercased().replacing("%2e", with: ".")
        return plain == "." || plain == ".."
    }
}

private func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
}

extension String {
    /// The text with its percent-escapes read, as far as they can be.
    func removingEscapes() -> String {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(ByteSet.hexDigits.contains),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
