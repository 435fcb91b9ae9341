internal import IDMFiles

/// A SHA-256 digest: what stands for a key in the name of its file.
struct Digest: Hashable, Sendable {
    let bytes: [UInt8]

    /// The digest in 64 hexadecimal digits.
    var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digits[Int(byte >> 4)]
                buffer[2 * index + 1] = digits[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }
}

extension Digest {
    /// Reads a digest of 64 hexadecimal digits. Nil for any other text.
    init?(hex: String) {
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 48...57: byte - 48
            case 97...102: byte - 87
            default: nil
            }
        }
        let digits = hex.utf8.compactMap(digit)
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The SHA-256 digest of some bytes.
    init(of message: some Collection<UInt8>) {
        bytes = SHA256(of: message).bytes
    }
}
