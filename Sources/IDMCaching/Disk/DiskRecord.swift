/// What one file of a disk cache holds, and how it is written.
///
/// A header of 96 bytes, all numbers with their least byte first, and then the key, the tags and the value:
///
///     0  "IDMC"            40  time, in nanoseconds since 1970   72  when it was asked for
///     4  version, 2 bytes  48  length of the key, 4 bytes        80  since which start of the machine
///     6  nothing, 2 bytes  52  length of the tags, 4 bytes       88  checksum of everything else
///     8  digest of the     56  length of the value
///        key, 32 bytes     64  era of the clock
struct DiskRecord {
    static let version = 1
    static let headerLength = 96
    /// Where the checksum is: the last thing in the header.
    private static let checksumPlace = 88..<headerLength
    /// Longer than any entry should be. What is longer is not read into memory.
    static let greatestLength = 1 << 30

    private static let magic = Array("IDMC".utf8)

    var digest: Digest
    /// In nanoseconds since 1970.
    var time: Int64
    /// See ``CacheStamp/era``.
    var era: UInt64
    /// When it was asked for, by ``MachineTime``.
    var asked: Int64
    /// See ``MachineStart``.
    var start: UInt64
    var key: [UInt8]
    var tags: [String]

    /// When it was asked for, by the time of now. Nought if that was before the machine was started.
    var askedSinceStart: Int64 {
        start == MachineStart.current && asked <= MachineTime.now ? asked : 0
    }

    // MARK: Writing

    /// The bytes of a file, or nil if it would be too long.
    func file(with value: some Collection<UInt8>) -> [UInt8]? {
        let tagBytes = tags.flatMap { tag in
            let bytes = Array(tag.utf8)
            return Self.littleEndian(UInt32(truncatingIfNeeded: bytes.count)) + bytes
        }
        let length = Self.headerLength + key.count + tagBytes.count + value.count
        guard length <= Self.greatestLength else { return nil }
        var file: [UInt8] = []
        file.reserveCapacity(length)
        file += Self.magic
        file += Self.littleEndian(UInt16(Self.version)) + [0, 0]
        file += digest.bytes
        file += Self.littleEndian(time)
        file += Self.littleEndian(UInt32(key.count)) + Self.littleEndian(UInt32(tagBytes.count))
        file += Self.littleEndian(UInt64(value.count))
        file += Self.littleEndian(era) + Self.littleEndian(asked) + Self.littleEndian(start)
        file += Self.littleEndian(UInt64(0))
        file += key
        file += tagBytes
        file += value
        let checksum = file.withUnsafeBytes { Checksum.of($0, leavingOut: Self.checksumPlace) }
        file.replaceSubrange(Self.checksumPlace, with: Self.littleEndian(checksum))
        return file
    }

    // MARK: Reading

    /// When the entry of a key was asked for, by the header of its file alone. Nil if that is none.
    static func asked(of digest: Digest, inHeader header: [UInt8]) -> Int64? {
        header.withUnsafeBytes { header in
            guard header.count >= headerLength, header.starts(with: magic), header[8..<40].elementsEqual(digest.bytes)
            else { return nil }
            return number(header, 72, Int64.self)
        }
    }

    /// Reads a file. Returns the record, and where the value is.
    static func read(_ file: UnsafeRawBufferPointer) throws(DiskDamage) -> (record: DiskRecord, value: Range<Int>) {
        guard file.count >= headerLength else {
            throw DiskDamage(file.starts(with: magic.prefix(file.count)) ? .torn : .foreign)
        }
        guard file.starts(with: magic) else { throw DiskDamage(.foreign) }
        let version = Int(number(file, 4, UInt16.self))
        guard version != 0 else { throw DiskDamage(.foreign) }
        guard version <= Self.version else { throw DiskDamage(.newerVersion(version)) }
        let (keyLength, tagsLength) = (number(file, 48, UInt32.self), number(file, 52, UInt32.self))
        let valueLength = number(file, 56, UInt64.self)
        // Nowhere as an Int before it is known to fit into one, which may have 32 bits.
        guard valueLength <= UInt64(greatestLength),
            UInt64(file.count - headerLength) == UInt64(keyLength) + UInt64(tagsLength) + valueLength
        else { throw DiskDamage(.torn) }
        let checksum = Checksum.of(file, leavingOut: checksumPlace)
        guard number(file, checksumPlace.lowerBound, UInt64.self) == checksum else { throw DiskDamage(.checksum) }
        let tagsStart = headerLength + Int(keyLength)
        let valueStart = tagsStart + Int(tagsLength)
        let record = DiskRecord(
            digest: Digest(bytes: Array(file[8..<40])), time: number(file, 40, Int64.self),
            era: number(file, 64, UInt64.self), asked: number(file, 72, Int64.self),
            start: number(file, 80, UInt64.self), key: Array(file[headerLength..<tagsStart]),
            tags: tags(UnsafeRawBufferPointer(rebasing: file[tagsStart..<valueStart])))
        return (record, valueStart..<file.count)
    }

    private static func tags(_ bytes: UnsafeRawBufferPointer) -> [String] {
        var tags: [String] = []
        var offset = 0
        while offset + 4 <= bytes.count {
            // Where an Int has 32 bits it may be too long for one.
            let length = Int(exactly: number(bytes, offset, UInt32.self)) ?? .max
            offset += 4
            guard length <= bytes.count - offset else { break }
            tags.append(String(decoding: bytes[offset..<offset + length], as: UTF8.self))
            offset += length
        }
        return tags
    }

    private static func number<Number: FixedWidthInteger>(
        _ file: UnsafeRawBufferPointer, _ offset: Int, _ type: Number.Type
    ) -> Number {
        Number(littleEndian: file.loadUnaligned(fromByteOffset: offset, as: type))
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

/// A file that is not a whole record.
struct DiskDamage: Error {
    let damage: CacheDamage

    init(_ damage: CacheDamage) {
        self.damage = damage
    }
}
