package import Foundation

extension LoopbackServer {
    /// A fast, not cryptographic fingerprint of bytes.
    package struct Fingerprint: Sendable, Hashable {
        private var state: UInt64 = 0xCBF2_9CE4_8422_2325
        private var length = 0
        /// The bytes behind the last whole word, in their order.
        private var rest: UInt64 = 0

        /// The fingerprint of no bytes.
        package init() {}

        /// The fingerprint of some bytes.
        package init(of data: Data) {
            add(data)
        }

        /// Adds more bytes. It doesn't matter how they are split.
        package mutating func add(_ data: Data) {
            data.withUnsafeBytes { add($0) }
        }

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            var place = 0
            while place < bytes.count, length % 8 != 0 { add(bytes[place], &place) }
            let end = bytes.count - (bytes.count - place) % 8
            addWords(UnsafeRawBufferPointer(rebasing: bytes[place..<end]))
            place = end
            while place < bytes.count { add(bytes[place], &place) }
        }

        /// Copies them to where they are aligned, block by block. To load each from where it is takes three times as
        /// long in a debug build, which is what tests are.
        private mutating func addWords(_ bytes: UnsafeRawBufferPointer) {
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 512) { words in
                var place = 0
                while place < bytes.count {
                    let end = min(place + words.count * 8, bytes.count)
                    let block = UnsafeRawBufferPointer(rebasing: bytes[place..<end])
                    UnsafeMutableRawBufferPointer(words).copyMemory(from: block)
                    var index = 0
                    while index < block.count / 8 {
                        mix(words[index])
                        index += 1
                    }
                    place = end
                }
            }
            length += bytes.count
        }

        private mutating func add(_ byte: UInt8, _ place: inout Int) {
            let offset = length % 8
            withUnsafeMutableBytes(of: &rest) { $0[offset] = byte }
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
