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

    @Test("a long description is cut")
    func cut() {
        #expect("abcdef".escapedForDescription(limit: 3) == "abc…")
        #expect("abc".escapedForDescription(limit: 3) == "abc")
    }
}
