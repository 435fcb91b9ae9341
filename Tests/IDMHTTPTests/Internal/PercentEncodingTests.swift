import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Percent-escapes", .timeLimit(.ample))
struct PercentEncodingTests {
    @Test(
        "valid escapes are decoded, invalid ones stay",
        arguments: [
            ("a%20b", "a b"), ("%C3%A9", "é"), ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%25%32", "%2"),
            ("%+1", "%+1"),
            ("%-1", "%-1"), ("", ""),
        ])
    func reading(text: String, expected: String) {
        #expect(text.removingEscapes() == expected)
    }

    @Test("decoding reverses encoding for all sampled scalars")
    func roundTrip() {
        for value in stride(from: UInt32(0), through: 0x10FFFF, by: 97) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let escaped = String(scalar).percentEncoded(keeping: .unreserved)
            #expect(escaped.removingEscapes() == String(scalar) && escaped.hasSoundEscapes)
        }
    }
}
