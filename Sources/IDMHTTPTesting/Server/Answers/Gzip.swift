import Foundation

/// Bytes packed as gzip, without a library that packs.
enum Gzip {
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]

    /// The bytes as they are, in blocks that say so.
    static func stored(_ data: Data, damaged: Bool = false) -> Data {
        var content = Array(data)
        let checksum = Checksum.of(content)
        if damaged, !content.isEmpty { content[0] ^= 1 }
        var packed = header
        var start = 0
        repeat {
            let end = min(start + 0xFFFF, content.count)
            let length = UInt16(end - start)
            packed.append(end == content.count ? 1 : 0)
            packed += length.littleEndianBytes + (~length).littleEndianBytes + content[start..<end]
            start = end
        } while start < content.count
        // Where there is no content to damage, the checksum is.
        let isWrong = damaged && content.isEmpty
        return Data(packed + (isWrong ? ~checksum : checksum).littleEndianBytes + content.count.lowBytes)
    }

    /// Encodes a number of zeros: one byte, then repetitions of 258 bytes in two bits each.
    static func zeros(_ length: Int) -> Data {
        let length = max(length, 0)
        // What runs of 258 leave over is written out first: a code for shorter runs would make the table longer.
        let runs = max(length - 1, 0) / 258
        var bits = BitWriter(bytes: header)
        bits.writeTables()
        for _ in 0..<(length - runs * 258) { bits.write([1, 0]) }
        // Four runs fill a byte, wherever in a byte they begin.
        let whole = runs / 4
        if whole > 0 { bits.write(zeroBytes: whole) }
        for _ in 0..<(runs % 4) { bits.write([0, 0]) }
        bits.write([1, 1])
        return Data(bits.bytes + Checksum.ofZeros(length).littleEndianBytes + length.lowBytes)
    }

    /// Writes bits, the first one lowest in its byte.
    private struct BitWriter {
        private(set) var bytes: [UInt8]
        private var used = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func write(_ bits: [UInt8]) {
            for bit in bits {
                if used == 0 { bytes.append(0) }
                bytes[bytes.count - 1] |= bit << UInt8(used)
                used = (used + 1) % 8
            }
        }

        mutating func write(_ value: Int, bits: Int) {
            write((0..<bits).map { UInt8(truncatingIfNeeded: value >> $0) & 1 })
        }

        mutating func write(zeroBytes count: Int) {
            bytes += [UInt8](repeating: 0, count: count)
        }

        /// The last block, with codes of its own. Of literals and lengths: 285, which is a run of 258, is 0; the
        /// literal zero is 10, and the end 11. Of distances there is one, and it is 0.
        mutating func writeTables() {
            write(1, bits: 1)
            write(2, bits: 2)
            write(286 - 257, bits: 5)
            write(1 - 1, bits: 5)
            // Lengths of the codes for lengths, in the order that the format has. Used are 18 (0), 1 (10), and 2 (11).
            let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]
            write(order.count - 4, bits: 4)
            for symbol in order { write(symbol == 18 ? 1 : symbol == 1 || symbol == 2 ? 2 : 0, bits: 3) }
            let one: [UInt8] = [1, 0]
            let two: [UInt8] = [1, 1]
            write(two)
            writeUnused(255)
            write(two)
            writeUnused(28)
            write(one)
            write(one)
        }

        /// Encodes a number of unused codes, 11 to 138 at a time.
        private mutating func writeUnused(_ count: Int) {
            var rest = count
            while rest > 0 {
                let run = min(rest, 138)
                write([0])
                write(run - 11, bits: 7)
                rest -= run
            }
        }
    }
}

/// The checksum of gzip, CRC-32.
enum Checksum {
    private static let polynomial: UInt32 = 0xEDB8_8320

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? polynomial ^ (value >> 1) : value >> 1 }
    }

    static func of(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }

    /// The checksum of so many zeros, found by squaring: for each of them alone there would be no time.
    static func ofZeros(_ length: Int) -> UInt32 {
        var state: UInt32 = ~0
        // The step of one zero byte, as what it makes of each bit.
        var step = (0..<32).map { bit -> UInt32 in
            let value: UInt32 = 1 << UInt32(bit)
            return table[Int(value & 0xFF)] ^ (value >> 8)
        }
        var rest = length
        while rest > 0 {
            if rest & 1 == 1 { state = apply(step, to: state) }
            step = step.map { apply(step, to: $0) }
            rest >>= 1
        }
        return ~state
    }

    private static func apply(_ step: [UInt32], to value: UInt32) -> UInt32 {
        (0..<32).reduce(0) { (value >> UInt32($1)) & 1 == 1 ? $0 ^ step[$1] : $0 }
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}

extension Int {
    /// The lowest 32 bits, as gzip has a length.
    fileprivate var lowBytes: [UInt8] { UInt32(truncatingIfNeeded: self).littleEndianBytes }
}
