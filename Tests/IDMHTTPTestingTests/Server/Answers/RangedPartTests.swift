import Foundation
import IDMHTTP
import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("Parts of a resource", .timeLimit(.ample))
struct RangedPartTests {
    private static func resource(_ ranges: LoopbackServer.Resource.Ranges = .honored) -> LoopbackServer.Resource {
        var resource = LoopbackServer.Resource(length: 100, eTag: #""v1""#)
        resource.lastModified = "Sat, 21 Nov 2026 10:00:00 GMT"
        resource.ranges = ranges
        return resource
    }

    private static func part(
        _ headers: ServiceHeaders, _ ranges: LoopbackServer.Resource.Ranges = .honored
    ) -> String {
        let part = RangedPart(of: resource(ranges), for: headers)
        let label = part.fields.first { $0.name == "Content-Range" }?.value
        return "\(part.status) \(part.range)" + (label.map { " " + $0 } ?? "")
    }

    @Test(
        "A part of a resource is the requested range",
        arguments: [
            ("bytes=0-9", "206 0..<10 bytes 0-9/100"), ("bytes=90-", "206 90..<100 bytes 90-99/100"),
            ("bytes=-5", "206 95..<100 bytes 95-99/100"), ("bytes=-500", "206 0..<100 bytes 0-99/100"),
            ("bytes=99-99", "206 99..<100 bytes 99-99/100"), ("bytes=50-5000", "206 50..<100 bytes 50-99/100"),
            ("bytes=50-9223372036854775807", "206 50..<100 bytes 50-99/100"),
            ("bytes=100-", "416 0..<0 bytes */100"), ("bytes=200-300", "416 0..<0 bytes */100"),
            ("bytes=-0", "416 0..<0 bytes */100"), ("bytes=9-0", "200 0..<100"), ("bytes=a-b", "200 0..<100"),
            ("bytes=0-1,5-6", "200 0..<100"), ("items=0-1", "200 0..<100"), ("bytes=-", "200 0..<100"),
        ])
    func ranges(range: String, expected: String) {
        #expect(Self.part(["Range": range]) == expected)
    }

    @Test("A part is sent only if its validator matches")
    func conditions() {
        let range: ServiceHeaders = ["Range": "bytes=0-9"]
        #expect(Self.part(range.merging(["If-Range": #""v1""#])).hasPrefix("206"))
        #expect(Self.part(range.merging(["If-Range": "Sat, 21 Nov 2026 10:00:00 GMT"])).hasPrefix("206"))
        #expect(Self.part(range.merging(["If-Range": #""v2""#])) == "200 0..<100")
        #expect(Self.part(range.merging(["If-Range": #"W/"v1""#])) == "200 0..<100")
        #expect(Self.part(["If-None-Match": #""v0", W/"v1""#]) == "304 0..<0")
        #expect(Self.part(["If-None-Match": "*"]) == "304 0..<0")
        #expect(Self.part(["If-None-Match": #""v2""#]) == "200 0..<100")
    }

    @Test("A part is wrong where the test says so")
    func wrong() {
        let range: ServiceHeaders = ["Range": "bytes=10-19"]
        #expect(Self.part(range, .ignored) == "200 0..<100")
        #expect(Self.part(range, .shifted(by: 5)) == "206 15..<25 bytes 15-24/100")
        #expect(Self.part(range, .mislabelled(by: 5)) == "206 10..<20 bytes 15-24/100")
    }

    @Test("A made-up resource is the same for the same seed")
    func noise() {
        let first = LoopbackServer.Resource(length: 20_000, seed: 7)
        let whole = first.bytes(0..<20_000)
        #expect(whole == LoopbackServer.Resource(length: 20_000, seed: 7).bytes(0..<20_000))
        #expect(whole != LoopbackServer.Resource(length: 20_000, seed: 8).bytes(0..<20_000))
        for (start, end) in [(0, 1), (3, 5), (4_090, 4_110), (8_191, 20_000), (19_999, 20_000)] {
            #expect(first.bytes(start..<end) == whole[start..<end])
        }
        #expect(whole[0..<4_096] != whole[4_096..<8_192])
        #expect(first.bytes(19_990..<30_000).count == 10)
        #expect(first.fingerprint == LoopbackServer.Fingerprint(of: whole))
    }

    @Test("A part may be shifted by the greatest number", arguments: [Int.max, .min])
    func wrongest(offset: Int) {
        let range: ServiceHeaders = ["Range": "bytes=10-19"]
        let end = offset > 0 ? 100 : 0
        #expect(Self.part(range, .shifted(by: offset)).hasPrefix("206 \(end)..<\(end) bytes \(end)-"))
        #expect(Self.part(range, .mislabelled(by: offset)).hasPrefix("206 10..<20 bytes \(max(offset, 0))-"))
    }

    @Test("A resource of less than nothing is nothing")
    func negative() {
        let resource = LoopbackServer.Resource(length: -1)
        #expect(resource.length == 0)
        #expect(resource.bytes(0..<10).isEmpty)
        #expect(resource.fingerprint == LoopbackServer.Fingerprint())
        #expect(RangedPart(of: resource, for: [:]).range.isEmpty)
        #expect(RangedPart(of: resource, for: ["Range": "bytes=0-9"]).status == 416)
    }

    @Test("A fingerprint depends on the bytes, and not on their pieces")
    func fingerprint() {
        // More than a block of those that it takes at once.
        let data = LoopbackServer.Resource(length: 4_200, seed: 1).bytes(0..<4_200)
        let whole = LoopbackServer.Fingerprint(of: data)
        for place in Array(0...100) + Array(4_080...4_120) + [4_199, 4_200] {
            var split = LoopbackServer.Fingerprint()
            split.add(data[..<place])
            split.add(data[place...])
            #expect(split == whole, "\(place)")
        }
        let same = data.indices.filter { place in
            var other = data
            other[place] ^= 1
            return LoopbackServer.Fingerprint(of: other) == whole
        }
        #expect(same.isEmpty)
        #expect(LoopbackServer.Fingerprint(of: Data([0])) != LoopbackServer.Fingerprint())
        #expect(LoopbackServer.Fingerprint(of: Data([0])) != LoopbackServer.Fingerprint(of: Data([0, 0])))
    }
}
