import Foundation
import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("Packing", .timeLimit(.ample))
struct GzipTests {
    @Test("The checksum is the known one, and that of zeros is found without them")
    func checksum() {
        #expect(Checksum.of(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(Checksum.of([]) == 0)
        for length in [0, 1, 2, 7, 8, 255, 256, 10_000] {
            #expect(Checksum.ofZeros(length) == Checksum.of([UInt8](repeating: 0, count: length)))
        }
    }

    @Test("Stored bytes stand in blocks with their lengths, and the checksum behind them")
    func stored() {
        let packed = Array(Gzip.stored(Data("ab".utf8)).dropFirst(10))
        #expect(packed == [1, 2, 0, 0xFD, 0xFF, 0x61, 0x62] + [0x6D, 0x48, 0x83, 0x9E] + [2, 0, 0, 0])
        #expect(Array(Gzip.stored(Data()).dropFirst(10)) == [1, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0])
        let long = Gzip.stored(Data(count: 100_000))
        #expect(long.count == 10 + 5 + 65_535 + 5 + 34_465 + 8)
        #expect(long[10] == 0 && long[10 + 5 + 65_535] == 1)
    }

    @Test("A damaged packing differs in one byte of its content, or in its checksum")
    func damaged() {
        for text in ["a", "abc"] {
            let pair = zip(Gzip.stored(Data(text.utf8)), Gzip.stored(Data(text.utf8), damaged: true))
            #expect(pair.count(where: { $0 != $1 }) == 1)
        }
        #expect(Gzip.stored(Data()) != Gzip.stored(Data(), damaged: true))
    }

    @Test("A gzip bomb has a thousandth of its unpacked size")
    func bomb() {
        #expect(Gzip.zeros(1 << 30).count < 1 << 21)
        #expect(Gzip.zeros(1 << 20).count < 1 << 11)
        #expect(Gzip.zeros(-1) == Gzip.zeros(0))
    }

    @Test("Zeros unpack to as many zeros", arguments: [0, 1, 2, 257, 258, 259, 516, 517, 1_033, 2_065, 100_000])
    func unpacks(length: Int) throws {
        var bits = BitReader(bytes: Array(Gzip.zeros(length).dropFirst(10).dropLast(8)))
        // Behind the tables, whose length is known: 17 bits, 18 lengths of 3, and the codes that they give.
        bits.skip(17 + 18 * 3 + (2 + 8 + 8 + 2 + 8 + 2 + 2))
        var found = 0
        while true {
            if bits.next() == 0 {
                #expect(bits.next() == 0, "There is one distance")
                found += 258
            } else if bits.next() == 0 {
                found += 1
            } else {
                break
            }
        }
        #expect(found == length)
        #expect(bits.isAtEnd)
    }

    private struct BitReader {
        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        /// True if only zero bits of the last byte are left.
        var isAtEnd: Bool { place > (bytes.count - 1) * 8 && place <= bytes.count * 8 }

        mutating func skip(_ count: Int) { place += count }

        mutating func next() -> UInt8 {
            defer { place += 1 }
            return place < bytes.count * 8 ? bytes[place / 8] >> UInt8(place % 8) & 1 : 1
        }
    }
}
