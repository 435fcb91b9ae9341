import Foundation
import TestSupport
import Testing

/// Compares the Swift blocks of the README, of all articles and of all doc comments with compiled samples. The Documentation
/// folders of the test targets compile them, and the package `Samples` those of the README and of the catalog `IDM`. Where
/// SwiftUI doesn't exist, the samples are compiled with stand-ins.
@Suite("Documentation", .timeLimit(.ample))
struct DocumentationTests {
    @Test("Every Swift block is identical to a compiled sample", arguments: try Page.allWithComments())
    func everyBlockIsCompiled(page: Page) throws {
        let samples = try page.isForNewcomers ? Sample.allCompiledTwice() : Sample.all()

        for block in try page.blocks()
        where block.language == "swift" && !samples.contains(where: { $0.code == block.code }) {
            Issue.record("No compiled sample is identical to this block.", sourceLocation: page.location(of: block))
        }
    }

    @Test("Every compiled sample is shown on a page or in a comment")
    func everySampleIsShown() throws {
        let shown = Set(try Page.allWithComments().flatMap { try $0.blocks() }.map(\.code))

        for sample in try Sample.all() where !shown.contains(sample.code) {
            Issue.record("\(sample.file): the sample “\(sample.name)” is shown on no page and in no comment.")
        }
    }

    @Test("Every fence names its language", arguments: try Page.allWithComments())
    func everyFenceNamesItsLanguage(page: Page) throws {
        for block in try page.blocks() where !["swift", "text"].contains(block.language) {
            Issue.record("A fence is either swift or text.", sourceLocation: page.location(of: block))
        }
    }

    @Test("No line of a page is wider than 120 columns, except in tables", arguments: try Page.all())
    func linesAreNarrow(page: Page) {
        for (index, line) in page.lines.enumerated() where line.count > 120 && !line.hasPrefix("|") {
            Issue.record("\(page.name):\(index + 1) has \(line.count) columns.")
        }
    }

    @Test("No code of an article is wider than 90 columns", arguments: try Page.all())
    func codeIsNarrow(page: Page) throws {
        for block in try page.blocks() where page.name != "README.md" {
            for (index, line) in block.code.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where line.count > 90 {
                Issue.record("\(page.name):\(block.line + index + 1) has \(line.count) columns.")
            }
        }
    }

    @Test("Every test filter that a page names selects tests", arguments: try Page.all())
    func filtersSelectTests(page: Page) throws {
        let filters = page.lines.joined(separator: "\n").matches(of: /swift test --filter ([A-Za-z0-9.]+)/)
        for name in filters.compactMap({ $0.1.split(separator: ".").last }) {
            let isTarget = FileManager.default.fileExists(atPath: root.appendingPathComponent("Tests/\(name)").path)
            let isSuite = try Self.tests.get().contains { $0.contains("struct \(name)") }
            #expect(isTarget || isSuite, "\(page.name): no test is called \(name).")
        }
    }

    @Test("Every link of a page into the tree leads to a file", arguments: try Page.all())
    func linksLeadSomewhere(page: Page) {
        for link in page.links
        where !FileManager.default.fileExists(atPath: page.folder.appendingPathComponent(link).path) {
            Issue.record("\(page.name): there is no \(link).")
        }
    }

    @Test("Every rule of the call contract has a suite that names it")
    func everyRuleIsTested() throws {
        let rules = try #require(Page.all().first { $0.name == "TheCallContract.md" }).lines
            .filter { $0.hasPrefix("### ") && $0.dropFirst(4).first?.isNumber == true }
            .map { $0.dropFirst(4).prefix { $0.isNumber } }
        let tests = try Self.tests.get()

        #expect(rules.count == 12)
        for rule in rules where !tests.contains(where: { $0.contains("\"Rule \(rule): ") }) {
            Issue.record("No suite names rule \(rule).")
        }
    }

    /// The text of each file in the folder Tests, read once.
    private static let tests = Result {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent("Tests").path)
            .filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: root.appendingPathComponent("Tests/\($0)"), encoding: .utf8) }
    }

    @Test("Blocks of pages and of comments are read with their line and without indentation")
    func blocksAreRead() throws {
        let text = "Words.\n\n  ```swift\n  if true {\n      done()\n\n  }\n  ```\n"
        let source =
            "import A\n\n    /// Words.\n    /// ```swift\n    /// done()\n    /// ```\n    func done() {}  // ```\n"
        let pages = [Page(name: "Page.md", text: text), Page(name: "File.swift", source: source)]

        #expect(
            try pages.flatMap { try $0.blocks() } == [
                Block(language: "swift", code: "if true {\n    done()\n\n}", line: 3),
                Block(language: "swift", code: "done()", line: 4),
            ])
    }

    @Test("A link is read without its fragment, also across a line end")
    func linksAreRead() {
        let page = Page(name: "Page.md", text: "[a](b/c.md#d), [e\nf](g) and [h](https://i.j/k), (l)[m]")

        #expect(page.links == ["b/c.md", "g"])
    }

    @Test("A sample is read up to its end, an open one is an error")
    func samplesAreRead() throws {
        let samples = try Sample.all(of: "no\n    // sample: a name\n    yes()\n    // end\nno", in: "File.swift")

        #expect(samples == [Sample(name: "a name", code: "yes()", file: "File.swift:2")])
        #expect(throws: DocumentationError.self) { try Page(name: "Page.md", text: "```swift\ncode").blocks() }
        #expect(throws: DocumentationError.self) { try Sample.all(of: "// sample: open\ncode", in: "Samples.swift") }
    }
}

/// The README, an article, or the comments of a source file.
struct Page: Sendable, CustomTestStringConvertible {
    let name: String
    let lines: [String]
    private let path: String

    init(name: String, text: String, path: String = "") {
        self.name = name
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The doc comments of a source file. Each line keeps its number.
    init(name: String, source: String, path: String = "") {
        let lines = source.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let words = line.drop { $0 == UInt8(ascii: " ") }
            guard words.starts(with: "///".utf8) else { return "" }
            let text = words.dropFirst(3)
            return String(decoding: text.starts(with: " ".utf8) ? text.dropFirst() : text, as: UTF8.self)
        }
        self.init(name: name, text: lines.joined(separator: "\n"), path: path)
    }

    var testDescription: String { name }

    /// Whether its code is compiled a second time, as a new Xcode project does: isolated to the main actor by default.
    var isForNewcomers: Bool {
        ["README.md", "ComingFromIDMCore.md"].contains(name) || path.contains("/IDM.docc/")
    }

    static func all() throws -> [Page] {
        let articles = try FileManager.default
            .subpathsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
            .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
            .map { root.appendingPathComponent("Sources/\($0)") }
        let pages = [root.appendingPathComponent("README.md")] + articles
        return try pages.sorted { $0.path < $1.path }.map {
            Page(name: $0.lastPathComponent, text: try String(contentsOf: $0, encoding: .utf8), path: $0.path)
        }
    }

    static func allWithComments() throws -> [Page] { try everything.get() }

    /// The pages, read once for all tests.
    private static let everything = Result { try all() + comments() }

    /// The source files whose doc comments contain a block.
    private static func comments() throws -> [Page] {
        let sources = root.appendingPathComponent("Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".swift") }
            .sorted()
            .map { sources.appendingPathComponent($0) }
            .map {
                let text = try String(contentsOf: $0, encoding: .utf8)
                return Page(name: $0.lastPathComponent, source: text, path: $0.path)
            }
            .filter { page in page.lines.contains { $0.hasPrefix("```") } }
    }

    var folder: URL { URL(fileURLWithPath: path).deletingLastPathComponent() }

    /// The targets of the page's links, without web addresses.
    var links: [String] {
        lines.joined(separator: "\n").matches(of: /\]\(([^)#\s]+)[^)]*\)/).map { String($0.1) }
            .filter { !$0.contains("://") }
    }

    func blocks() throws -> [Block] {
        try sections(of: lines, from: "```", to: "```", in: name).map {
            Block(language: $0.name, code: $0.code, line: $0.line)
        }
    }

    func location(of block: Block) -> SourceLocation {
        SourceLocation(fileID: "Documentation/\(name)", filePath: path, line: block.line, column: 1)
    }
}

/// A fenced block of a page.
struct Block: Hashable {
    let language: String
    let code: String
    let line: Int
}

/// A compiled sample: the lines between `// sample: name` and `// end`.
struct Sample: Hashable {
    let name: String
    let code: String
    let file: String

    static func all() throws -> [Sample] { try tested.get() + allCompiledTwice() }

    /// The samples of targets that have a twin in `Samples/Package.swift`.
    static func allCompiledTwice() throws -> [Sample] { try twins.get() }

    /// The samples, read once for all tests.
    private static let tested = Result { try all(in: ["Tests"]) }
    private static let twins = Result { try all(in: ["Samples/Readme", "Samples/Pages", "Samples/PagesTests"]) }

    private static func all(in folders: [String]) throws -> [Sample] {
        try folders.map { root.appendingPathComponent($0) }.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix("Samples.swift") }
                .filter { $0.contains("/Documentation/") || folder.lastPathComponent != "Tests" }
                .map { folder.appendingPathComponent($0) }
                .flatMap { try all(of: String(contentsOf: $0, encoding: .utf8), in: $0.lastPathComponent) }
        }
    }

    static func all(of text: String, in file: String) throws -> [Sample] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return try sections(of: lines, from: "// sample: ", to: "// end", in: file).map {
            Sample(name: $0.name, code: $0.code, file: "\(file):\($0.line)")
        }
    }
}

struct DocumentationError: Error, CustomStringConvertible {
    let description: String
}

/// The root folder of the package.
private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// Returns the lines between a line that begins with `start`, followed by a name, and a line that is `end`.
private func sections(
    of lines: [String], from start: String, to end: String, in file: String
) throws -> [(name: String, line: Int, code: String)] {
    var sections: [(name: String, line: Int, code: String)] = []
    var open: (name: String, line: Int, lines: [String])?
    for (index, line) in lines.enumerated() {
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        if let section = open {
            if trimmed == end {
                sections.append((section.name, section.line, dedented(section.lines)))
                open = nil
            } else {
                open?.lines.append(line)
            }
        } else if trimmed.hasPrefix(start) {
            open = (String(trimmed.dropFirst(start.count)), index + 1, [])
        }
    }
    if let open { throw DocumentationError(description: "\(file):\(open.line): the end is missing.") }
    return sections
}

/// Returns the lines without their common indentation and without trailing spaces.
private func dedented(_ lines: [String]) -> String {
    let shared = lines.filter { !$0.allSatisfy(\.isWhitespace) }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { line in
        var line = Substring(line).dropFirst(shared)
        while line.last?.isWhitespace == true { line.removeLast() }
        return String(line)
    }.joined(separator: "\n")
}
