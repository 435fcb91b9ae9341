public import Foundation

extension LoopbackServer {
    /// Tells bytes from other bytes without keeping them. Made for speed, and not against those who would deceive it.
    public struct Fingerprint: Sendable, Hashable {
        private var state: UInt64 = 0xCBF2_9CE4_8422_2325
        private var length = 0
        /// The bytes behind the last whole word, the first one lowest.
        private var rest: UInt64 = 0

        /// The fingerprint of no bytes.
        public init() {}

        /// The fingerprint of some bytes.
        public init(of data: Data) {
            add(data)
        }

        /// Adds more bytes. It doesn't matter how they are split.
        public mutating func add(_ data: Data) {
            data.withUnsafeBytes { add($0) }
        }

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            var place = 0
            while place < bytes.count, length % 8 != 0 { add(bytes[place], &place) }
            while bytes.count - place >= 8 {
                mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                place += 8
                length += 8
            }
            while place < bytes.count { add(bytes[place], &place) }
        }

        private mutating func add(_ byte: UInt8, _ place: inout Int) {
            rest |= UInt64(byte) << UInt64(length % 8 * 8)
            length += 1
            place += 1
            if length % 8 == 0 {
                mix(rest)
                rest = 0
            }
        }

        private mutating func mix(_ word: UInt64) {
            state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
            state ^= state >> 29
        }
    }
}
