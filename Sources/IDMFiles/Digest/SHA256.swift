/// A SHA-256 hash (FIPS 180-4) that is updated piece by piece and can be saved and restored at any byte.
///
/// Caches name their files by it, and downloads are verified against it.
package struct SHA256: Sendable, Hashable {
    /// The number of bytes hashed so far.
    package private(set) var count: UInt64 = 0
    private var words: SIMD8<UInt32>
    /// Bytes that don't fill a block yet.
    private var tail: [UInt8] = []

    private static let blockLength = 64

    package init() {
        words = SIMD8(
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
    }

    /// Returns the digest of `bytes` in 64 hexadecimal digits.
    package static func hex(of bytes: some Sequence<UInt8>) -> String {
        SHA256(of: bytes).hex
    }

    /// Creates a hash of `bytes`, to which more can be added.
    package init(of bytes: some Sequence<UInt8>) {
        self.init()
        Array(bytes).withUnsafeBytes { update($0) }
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count += UInt64(bytes.count)
        var rest = bytes[...]
        if !tail.isEmpty {
            let missing = rest.prefix(Self.blockLength - tail.count)
            tail += missing
            rest = rest.dropFirst(missing.count)
            guard tail.count == Self.blockLength else { return }
            words = tail.withUnsafeBytes { Self.digested($0, onto: words) }
            tail.removeAll(keepingCapacity: true)
        }
        let whole = rest.prefix(rest.count / Self.blockLength * Self.blockLength)
        if !whole.isEmpty { words = Self.digested(UnsafeRawBufferPointer(rebasing: whole), onto: words) }
        tail += rest.dropFirst(whole.count)
    }

    /// The digest of the bytes added so far, in 64 hexadecimal digits.
    package var hex: String {
        digest.map(\.hex).joined()
    }

    /// The digest of the bytes added so far, in 32 bytes.
    package var bytes: [UInt8] {
        digest.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word &>> $0) } }
    }

    private var digest: [UInt32] {
        var padded = tail
        padded.append(0x80)
        while padded.count % Self.blockLength != 56 { padded.append(0) }
        withUnsafeBytes(of: (count << 3).bigEndian) { padded += $0 }
        let last = padded.withUnsafeBytes { Self.digested($0, onto: words) }
        return last.indices.map { last[$0] }
    }
}

// Plain pointers, plain loops and transparent functions are fast without the optimizer too: tests hash whole files in
// debug builds.
extension SHA256 {
    /// Hashes whole blocks.
    private static func digested(_ blocks: UnsafeRawBufferPointer, onto words: SIMD8<UInt32>) -> SIMD8<UInt32> {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            constants.withUnsafeBufferPointer { constants in
                guard let schedule = schedule.baseAddress, let constants = constants.baseAddress,
                    var block = blocks.baseAddress
                else { return words }
                var words = words
                var left = blocks.count
                while left > 0 {
                    fill(schedule, from: block)
                    words &+= rounds(schedule, constants, words)
                    block += blockLength
                    left &-= blockLength
                }
                return words
            }
        }
    }

    /// Writes the message schedule of one block.
    private static func fill(_ schedule: UnsafeMutablePointer<UInt32>, from block: UnsafeRawPointer) {
        var index = 0
        while index < 16 {
            schedule[index] = block.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self).bigEndian
            index &+= 1
        }
        while index < 64 {
            let (early, late) = (schedule[index &- 15], schedule[index &- 2])
            let first = rotate(early, 7) ^ rotate(early, 18) ^ (early &>> 3)
            let second = rotate(late, 17) ^ rotate(late, 19) ^ (late &>> 10)
            schedule[index] = schedule[index &- 16] &+ first &+ schedule[index &- 7] &+ second
            index &+= 1
        }
    }

    private static func rounds(
        _ schedule: UnsafePointer<UInt32>, _ constants: UnsafePointer<UInt32>, _ words: SIMD8<UInt32>
    ) -> SIMD8<UInt32> {
        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        var index = 0
        // After eight rounds each variable is back in its own place, so none has to be moved.
        while index < 64 {
            round(a, b, c, &d, e, f, g, &h, schedule[index] &+ constants[index])
            round(h, a, b, &c, d, e, f, &g, schedule[index &+ 1] &+ constants[index &+ 1])
            round(g, h, a, &b, c, d, e, &f, schedule[index &+ 2] &+ constants[index &+ 2])
            round(f, g, h, &a, b, c, d, &e, schedule[index &+ 3] &+ constants[index &+ 3])
            round(e, f, g, &h, a, b, c, &d, schedule[index &+ 4] &+ constants[index &+ 4])
            round(d, e, f, &g, h, a, b, &c, schedule[index &+ 5] &+ constants[index &+ 5])
            round(c, d, e, &f, g, h, a, &b, schedule[index &+ 6] &+ constants[index &+ 6])
            round(b, c, d, &e, f, g, h, &a, schedule[index &+ 7] &+ constants[index &+ 7])
            index &+= 8
        }
        return SIMD8(a, b, c, d, e, f, g, h)
    }

    @_transparent
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32,
        _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ word: UInt32
    ) {
        let sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
        let choice = g ^ (e & (f ^ g))
        let first = h &+ sum1 &+ choice &+ word
        let sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
        let majority = (a & b) | (c & (a | b))
        d = d &+ first
        h = first &+ sum0 &+ majority
    }

    @_transparent
    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> count | word &<< (32 &- count)
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension SHA256: Codable {
    private enum Key: String, CodingKey { case count, words, tail }

    /// Restores a partial hash. Throws `DecodingError` if the number of pending bytes contradicts the count.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        count = try values.decode(UInt64.self, forKey: .count)
        words = try values.decode(SIMD8<UInt32>.self, forKey: .words)
        tail = try values.decode([UInt8].self, forKey: .tail)
        guard tail.count == Int(count % UInt64(Self.blockLength)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .tail, in: values, debugDescription: "The pending bytes contradict the byte count.")
        }
    }

    /// Saves a partial hash.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(count, forKey: .count)
        try values.encode(words, forKey: .words)
        try values.encode(tail, forKey: .tail)
    }
}

extension UInt32 {
    /// The word in eight hexadecimal digits.
    fileprivate var hex: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
