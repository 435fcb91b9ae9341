import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("File names", .timeLimit(.ample))
struct FileNameTests {
    @Test(
        "Whatever a server suggests becomes a name in its folder",
        arguments: [
            ("report.pdf", "report.pdf"), ("../../x", "x"), ("..\\..\\x", "x"), ("/etc/passwd", "passwd"),
            ("C:\\Windows\\system.ini", "system.ini"), ("a/b/c.txt", "c.txt"), ("a\u{0}b.txt", "ab.txt"),
            ("a\r\nb.txt", "ab.txt"), ("\u{202e}gpj.exe", "gpj.exe"), (".bashrc", "bashrc"), ("...x...", "x"),
            ("  spaced name .txt ", "spaced name .txt"), ("CON", "_CON"), ("nul.txt", "_nul.txt"),
            ("COM1.log", "_COM1.log"), ("CON.\u{301}txt", "_CON.\u{301}txt"), ("com1.\u{301}", "_com1.\u{301}"),
            ("console.txt", "console.txt"), ("a:b*c?d\"e<f>g|h", "a_b_c_d_e_f_g_h"), ("Käse 🧀.txt", "Käse 🧀.txt"),
            ("~", "~"), ("%2e%2e%2fx", "%2e%2e%2fx"), ("a\u{2028}b", "ab"), ("x.", "x"), (".tar.gz", "tar.gz"),
            (".\u{200d}bashrc", "bashrc"), ("\u{3164}.exe", "exe"), ("a\u{3164}", "a"),
            ("\u{2764}\u{fe0f}", "\u{2764}\u{fe0f}"), ("../\u{301}x", "\u{301}x"), (".\u{301}x.", "\u{301}x"),
            // The names of parts, and of what is known of them.
            ("map.bin.part", "map.bin.part_"), ("map.PART.info", "map.PART.info_"),
            ("map.part.info.new", "map.part.info.new_"), ("x\u{d4e}.part", "x\u{d4e}.part_"),
            ("x\u{d4e}.part\u{d4e}.new", "x\u{d4e}.part\u{d4e}.new"), ("x\u{d4e}.PART.new", "x\u{d4e}.PART.new_"),
            ("map.part.zip", "map.part.zip"), ("info", "info"),
        ])
    func suggested(text: String, name: String) {
        // As scalars: two texts that only look alike are names of two files.
        #expect(FileName(suggested: text).map { Array($0.text.unicodeScalars) } == Array(name.unicodeScalars))
    }

    @Test(
        "What leaves nothing to call a file by is no name",
        arguments: [
            "", ".", "..", "...", "/", "a/", "..\\", " ", "\u{0}", "\t\n", "../..", "\u{202e}", ". . .", "\u{200d}",
            ".\u{200d}.", "\u{3164}", "\u{115f}", "\u{34f}", "\u{2800}", "\u{ffa0} .\u{1160}", "\u{fe0f}",
        ])
    func nothing(text: String) {
        #expect(FileName(suggested: text) == nil)
    }

    @Test("A name that is too long is cut to 255 bytes, with no character cut and its extension kept")
    func long() throws {
        for letter in ["a", "ä", "🧀", "👨‍👩‍👧‍👦", "e\u{301}"] {
            for extra in 0..<4 {
                let text = String(repeating: "x", count: extra) + String(repeating: letter, count: 300) + ".jpeg"
                let name = try #require(FileName(suggested: text)).text
                #expect(name.utf8.count <= 255 && name.utf8.count > 255 - letter.utf8.count && name.hasSuffix(".jpeg"))
                #expect(text.hasPrefix(name.dropLast(5)))
            }
        }
        let dotted = try #require(FileName(suggested: "a." + String(repeating: "b", count: 400)))
        #expect(dotted.text.utf8.count == 255)
    }

    @Test(
        "A name whose first character alone is too long isn't cut to nothing, and no cut makes a name that isn't taken",
        arguments: ["", ".txt", ".bashrc", ".part", ".part.info", "." + String(repeating: "b", count: 30)])
    func cut(ending: String) throws {
        let marks = String(repeating: "\u{301}", count: 150)
        for start in ["a" + marks, String(repeating: "A", count: 248) + ".part", String(repeating: "A", count: 252)] {
            for name in [start + ending, start + ".part.info.new" + ending, start + "." + ending] {
                let name = try #require(FileName(suggested: name))
                for text in [name.text, name.numbered(2), name.numbered(9_999)] {
                    #expect(text.utf8.count <= 255 && !text.isEmpty)
                    #expect(text.unicodeScalars.first != "." && text.unicodeScalars.last != ".", "\(text)")
                    #expect(!DownloadPlace.isReserved(text), "\(text)")
                }
            }
        }
        let name = try #require(FileName(suggested: "a" + marks + ".bashrc")).text
        #expect(name.unicodeScalars.starts(with: "a\u{301}".unicodeScalars) && name.hasSuffix(".bashrc"))
    }

    @Test("A number stands before the extension, and the name still fits")
    func numbered() throws {
        #expect(FileName(suggested: "map.bin")?.numbered(2) == "map (2).bin")
        #expect(FileName(suggested: "map")?.numbered(10) == "map (10)")
        #expect(FileName(suggested: ".map")?.numbered(2) == "map (2)")
        #expect(FileName(suggested: "x\u{d4e}.bin")?.numbered(2) == "x\u{d4e} (2).bin")
        let long = try #require(FileName(suggested: String(repeating: "ä", count: 300) + ".bin")).numbered(9_999)
        #expect(long.utf8.count <= 255 && long.hasSuffix(" (9999).bin"))
    }

    @Test("No text at all gets out of its folder")
    func random() {
        var random = SplitMix(seed: 7)
        let parts = [
            "/", "\\", "..", ".", "a", "\u{0}", "\n", "🧀", "\u{202e}", "%2f", " ", "CON", ":", "e\u{301}", "\u{301}",
            "a" + String(repeating: "\u{301}", count: 150), String(repeating: "b", count: 250), ".part", ".info",
            "\u{d4e}",
        ]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<12, using: &random)
            let text = (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            guard let name = FileName(suggested: text)?.text else { continue }
            #expect(!name.isEmpty && !name.utf8.contains { $0 == 0 || $0 == 0x2F || $0 == 0x5C })
            #expect(name.utf8.first != 46 && name.utf8.last != 46 && name.utf8.count <= 255, "\(text.debugDescription)")
            #expect(!DownloadPlace.isReserved(name), "\(text.debugDescription)")
        }
    }
}
