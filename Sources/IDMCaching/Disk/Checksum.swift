/// XXH64: a quick checksum by which torn and flipped bytes are found. It keeps nobody from forging an entry.
enum Checksum {
    private static let prime1: UInt64 = 0x9e37_79b1_85eb_ca87
    private static let prime2: UInt64 = 0xc2b2_ae3d_27d4_eb4f
    private static let prime3: UInt64 = 0x1656_67b1_9e37_79f9
    private static let prime4: UInt64 = 0x85eb_ca77_c2b2_ae63
    private static let prime5: UInt64 = 0x27d4_eb2f_1656_67c5

    /// The checksum of bytes among which it has a place of its own.
    static func of(_ bytes: UnsafeRawBufferPointer, leavingOut place: Range<Int>) -> UInt64 {
        let before = of(UnsafeRawBufferPointer(rebasing: bytes[..<place.lowerBound]))
        return of(UnsafeRawBufferPointer(rebasing: bytes[place.upperBound...]), seed: before)
    }

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if bytes.count >= 32 {
            var lanes = (seed &+ prime1 &+ prime2, seed &+ prime2, seed, seed &- prime1)
            while offset + 32 <= bytes.count {
                lanes.0 = round(lanes.0, word(bytes, offset))
                lanes.1 = round(lanes.1, word(bytes, offset + 8))
                lanes.2 = round(lanes.2, word(bytes, offset + 16))
                lanes.3 = round(lanes.3, word(bytes, offset + 24))
                offset += 32
            }
            hash = rotate(lanes.0, 1) &+ rotate(lanes.1, 7) &+ rotate(lanes.2, 12) &+ rotate(lanes.3, 18)
            hash = merge(merge(merge(merge(hash, lanes.0), lanes.1), lanes.2), lanes.3)
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            hash = rotate(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash = rotate(hash ^ (UInt64(half) &* prime1), 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotate(hash ^ (UInt64(bytes[offset]) &* prime5), 11) &* prime1
            offset += 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotate(lane &+ word &* prime2, 31) &* prime1
    }

    private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word << count | word >> (64 - count)
    }
}
