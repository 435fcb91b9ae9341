import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

@Suite("The file of an entry", .timeLimit(.ample))
struct DiskRecordTests {
    private let value = Array("a value of some length".utf8)

    private func record(tags: [String] = ["one", "två", ""]) -> DiskRecord {
        let key = Array("key/../ü".utf8)
        return DiskRecord(
            digest: Digest(of: key), time: 1_700_000_000_123_456_789, era: 77, asked: 88, start: 99, key: key,
            tags: tags)
    }

    private func damage(_ bytes: [UInt8]) -> CacheDamage? {
        bytes.withUnsafeBytes { bytes in
            do throws(DiskDamage) {
                _ = try DiskRecord.read(bytes)
                return nil
            } catch {
                return error.damage
            }
        }
    }

    @Test("What is written is read", arguments: [[], ["one"], ["one", "två", ""]])
    func roundTrip(tags: [String]) throws {
        let written = record(tags: tags)
        let file = try #require(written.file(with: value))
        let (read, range) = try file.withUnsafeBytes { try DiskRecord.read($0) }

        #expect(read.digest == written.digest && read.time == written.time && read.era == written.era)
        #expect(read.asked == 88 && read.start == 99 && read.key == written.key && read.tags == tags)
        #expect(Array(file[range]) == value)
    }

    @Test("When it was asked for means something for as long as the machine runs, and not if it is yet to come")
    func asked() {
        var record = DiskRecord(key: "key")
        record.start = MachineStart.current
        record.asked = MachineTime.now
        #expect(record.askedSinceStart == record.asked)
        record.asked += Duration.seconds(3600).nanoseconds
        #expect(record.askedSinceStart == 0)
        record.asked = 1
        #expect(record.askedSinceStart == 1)
        record.start &+= 1
        #expect(record.askedSinceStart == 0)
    }

    @Test("A file that ends anywhere before its end is damaged, and so is one that goes on")
    func torn() throws {
        let file = try #require(record().file(with: value))
        for length in 0..<file.count { #expect(damage(Array(file[..<length])) == .torn, "\(length)") }
        #expect(damage(file + [0]) == .torn)
    }

    @Test("A time that no number of nanoseconds can tell is the last one that can be told")
    func greatTimes() {
        let almost = Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 999_999_999_000_000_000)
        #expect(almost.nanoseconds == .max)
        #expect((.zero - almost).nanoseconds == .min)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
        #expect(Duration.nanoseconds(-17).nanoseconds == -17)
    }

    @Test("Every single bit that flips is found")
    func flipped() throws {
        let file = try #require(record().file(with: value))
        // Two bytes of the header mean nothing, and are part of the checksum as well.
        for bit in 0..<file.count * 8 {
            var flipped = file
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(damage(flipped) != nil, "bit \(bit)")
        }
    }

    @Test("What others have written is foreign, and what comes later is newer")
    func strangers() throws {
        var file = try #require(record().file(with: value))
        file[4] = 9
        #expect(damage(file) == .newerVersion(9))
        file[4] = 0
        #expect(damage(file) == .foreign)
        #expect(damage(Array(repeating: 0, count: 4096)) == .foreign)
        #expect(damage(Array("{\"json\": true}".utf8)) == .foreign)
    }

    @Test("Lengths that make no sense are found before anything is read by them")
    func lengths() throws {
        var random = SplitMix(seed: 3)
        let file = try #require(record().file(with: value))
        for _ in 0..<Volume.of(100_000, normally: 2_000) {
            var wrong = file
            for index in 48..<64 { wrong[index] = UInt8.random(in: .min ... .max, using: &random) }
            #expect(damage(wrong) == .torn)
        }
    }
}
