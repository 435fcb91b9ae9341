import Foundation
import TestSupport
import Testing

@testable import IDMCaching

@Suite("The keys of a cache on disk", .fewAtOnce, .timeLimit(.ample))
struct DiskKeyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(partition: String? = nil) throws -> DiskCache<String, String> {
        try DiskCache(folder: folder.url, partition: partition)
    }

    @Test("Any text is a key, and texts that are equal are the same one")
    func keys() async throws {
        let cache = try open()
        let keys = [
            "", ".", "..", "../../etc/passwd", "/", "a/b", "a\0b", "\u{202e}", "🧑‍🧑‍🧒",
            String(repeating: "k", count: 100_000),
            "cafe\u{301}",
        ]
        for (index, key) in keys.enumerated() { try await cache.set("\(index)", for: key) }
        for (index, key) in keys.enumerated() { #expect(await cache.get(key)?.value == "\(index)") }
        #expect(await cache.get("caf\u{e9}")?.value == "10")
        #expect(folder.entries.count == keys.count)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/etc"))
    }

    @Test(
        "Texts that are equal are the same key, also where Foundation knows less of Unicode",
        arguments: [
            ("a\u{897}\u{323}", "a\u{323}\u{897}"), ("\u{e1}\u{1ad0}", "a\u{1ad0}\u{301}"),
            ("e\u{1e6f5}\u{316}\u{301}", "\u{e9}\u{316}\u{1e6f5}"), ("\u{105c9}", "\u{105d2}\u{307}"),
            ("\u{16126}", "\u{1611e}\u{1611e}\u{1611f}"), ("\u{16121}\u{1611f}", "\u{1611e}\u{1611e}\u{1611f}"),
            ("\u{11385}\u{e9}", "\u{11384}\u{113bb}e\u{301}"), ("x\u{16d6a}", "x\u{16d63}\u{16d67}\u{16d67}"),
        ])
    func equalTexts(texts: (String, String)) async throws {
        // By the tables of this system's standard library.
        guard texts.0 == texts.1 else { return }
        let cache = try open()
        try await cache.set("one", for: texts.0)
        #expect(await cache.get(texts.1)?.value == "one")
        try await open(partition: texts.0).set("two", for: "key")
        #expect(try await open(partition: texts.1).get("key")?.value == "two")
    }

    @Test("Numbers that are equal are the same key, as in memory")
    func equalNumbers() async throws {
        func check<Number: BinaryFloatingPoint & LosslessStringConvertible & Sendable>(_ zero: Number) async throws {
            let cache = try DiskCache<Number, String>(folder: folder.url, partition: "\(Number.self)", memoryLimit: 2)
            try await cache.set("plus", for: zero)
            try await cache.set("minus", for: -zero)
            try await cache.set("one", for: 1)
            let reopened = try DiskCache<Number, String>(folder: folder.url, partition: "\(Number.self)")
            for cache in [cache, reopened] { #expect(await cache.get(zero)?.value == "minus") }
            #expect(await reopened.get(1)?.value == "one")
        }
        try await check(0.0 as Double)
        try await check(0.0 as Float)
        #expect(folder.entries.count == 4)
    }

    @Test("Keys that aren't texts")
    func otherKeys() async throws {
        struct Place: Hashable, Sendable { let x, y: Int }
        let numbers = try DiskCache<Int, [Double]>(folder: folder.url, coding: .propertyList)
        try await numbers.set([1.5, .pi], for: -7)
        #expect(await numbers.get(-7)?.value == [1.5, .pi])
        let places = try DiskCache<Place, Data>(folder: folder.url, partition: "places", coding: .bytes) {
            "\($0.x),\($0.y)"
        }
        try await places.set(Data([1, 0, 255]), for: Place(x: 1, y: 2))
        #expect(await places.get(Place(x: 1, y: 2))?.value == Data([1, 0, 255]))
        #expect(await places.get(Place(x: 12, y: 0)) == nil)
    }
}
