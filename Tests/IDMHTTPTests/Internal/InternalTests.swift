import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A text in a description", .timeLimit(.ample))
struct DescriptionTests {
    @Test(
        "stays on its line, and hides nothing",
        arguments: [
            ("plain \"é\" \\ 🚀", "plain \"é\" \\ 🚀"), ("a\r\nb\t\0", #"a\r\nb\t\0"#), ("\u{1B}[31m", #"\u{1B}[31m"#),
            ("\u{202E}x\u{2028}", #"\u{202E}x\u{2028}"#), ("", ""),
        ])
    func escapes(text: String, shown: String) {
        #expect(text.escapedForDescription() == shown)
    }

    @Test("is cut where it gets long")
    func cut() {
        #expect("abcdef".escapedForDescription(limit: 3) == "abc…")
        #expect("abc".escapedForDescription(limit: 3) == "abc")
    }
}

@Suite("Percent-escapes", .timeLimit(.ample))
struct PercentEncodingTests {
    @Test(
        "are read, and left where they are none",
        arguments: [
            ("a%20b", "a b"), ("%C3%A9", "é"), ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%25%32", "%2"),
            ("%+1", "%+1"),
            ("%-1", "%-1"), ("", ""),
        ])
    func reading(text: String, expected: String) {
        #expect(text.removingEscapes() == expected)
    }

    @Test("give back what was escaped, for every scalar of a sample")
    func roundTrip() {
        for value in stride(from: UInt32(0), through: 0x10FFFF, by: 97) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let escaped = String(scalar).percentEncoded(keeping: .unreserved)
            #expect(escaped.removingEscapes() == String(scalar) && escaped.hasSoundEscapes)
        }
    }
}

@Suite("The first result", .timeLimit(.ample))
struct FirstResultTests {
    private enum Trouble: Error { case one }

    @Test("is heard, also if it comes before anybody waits, and no later one")
    func before() async throws {
        let result = FirstResult<Int>()

        #expect(result.end(.success(1)))
        #expect(!result.end(.success(2)))
        #expect(!result.end(.failure(Trouble.one)))
        #expect(try await result.value() == 1)
        #expect(!result.end(.success(3)))
    }

    @Test("is one of many that race, whoever waits")
    func races() async throws {
        for round in 0..<200 {
            let result = FirstResult<Int>()
            let winners = await withTaskGroup(of: Int?.self) { group in
                for value in 0..<4 { group.addTask { result.end(.success(value)) ? value : nil } }
                group.addTask { (try? await result.value()).map { $0 + 100 } }
                return await group.reduce(into: Set<Int>()) { if let value = $1 { $0.insert(value) } }
            }
            #expect(winners.count == 2 && winners.max() == winners.min().map { $0 + 100 }, "round \(round)")
        }
    }
}
