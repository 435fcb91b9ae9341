import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Draws the pictures of the article on executing types from the events of real calls, and compares them.
@Suite("Pictures of executing types", .timeLimit(.ample))
@MainActor
struct ExecutingTypePicturesTests {
    /// The executing type of each picture, by its heading.
    private nonisolated static let types: [String: (type: ExecutingType, hasLanes: Bool)] = [
        "default": (.default, false), "only": (.only, false), "only, joining": (.only(joining: true), false),
        "queue": (.queue, false), "queue, with a width": (.queue(width: 2), false),
        "queue, with a limit": (.queue(limit: 1), false), "latest": (.latest, false),
        "latest, with a debounce": (.latest(debounce: Timeline.tick * 4), false), "Lanes": (.only, true),
    ]

    @Test("The article shows the events of real calls", arguments: types.keys.sorted())
    func pictures(heading: String) async throws {
        let page = try #require(try Page.all().first { $0.name == "ChoosingAnExecutingType.md" })
        let picture = try #require(try page.picture(under: heading))
        let subject = try #require(Self.types[heading])
        let drawn = try await Self.draw(picture, subject.type, hasLanes: subject.hasLanes)
        #expect(drawn == picture, "\n\(drawn.joined(separator: "\n"))")
    }

    @Test("Every picture of the article is tested")
    func everyPicture() throws {
        let page = try #require(try Page.all().first { $0.name == "ChoosingAnExecutingType.md" })
        #expect(page.lines.count { $0.hasPrefix("tick ") } == Self.types.count)
    }

    /// Makes the calls of a picture and draws its rows.
    private static func draw(_ picture: [String], _ type: ExecutingType, hasLanes: Bool) async throws -> [String] {
        let ruler = try #require(picture.first)
        let origin = try #require(ruler.firstIndex(of: "0")).utf16Offset(in: ruler)
        let (clock, board) = (ManualClock(), Board())
        let provider = Eight(clock: clock, board: board)
        let lane = { @Sendable (input: String) in hasLanes ? input.last : nil }
        let integrator = Integrator(provider, executing: type, lane: lane, clock: clock)
        var calls = try #require(picture.dropFirst().first?.columns).dropFirst()
        while let call = calls.first {
            if call.column - origin == board.tick(clock) {
                board.make(integrator.prepareCall(call.word), call.word, clock)
                calls = calls.dropFirst()
            } else {
                await clock.advance(by: Timeline.tick)
            }
        }
        await clock.run()
        return picture.prefix(2)
            + picture.dropFirst(2).compactMap { line in
                let name = line.columns.first?.word ?? ""
                let row = name == "request" ? board.requests : board.rows[name]
                return row.map { name + String(repeating: " ", count: origin - name.count) + $0.text }
            }
    }

    /// A row of a picture.
    private struct Row {
        var text = ""

        /// Fills the row up to a tick and puts a mark there.
        mutating func mark(_ character: Character, at tick: Int, filling: Character = " ") {
            text += String(repeating: filling, count: max(0, tick - text.count)) + [character]
        }
    }

    /// Draws the rows from the events of the calls.
    @MainActor
    private final class Board {
        private(set) var rows: [String: Row] = [:]
        private(set) var requests: Row? = Row()

        func markRequest(_ character: Character, filling: Character = " ", _ clock: ManualClock) {
            requests?.mark(character, at: tick(clock), filling: filling)
        }

        func tick(_ clock: ManualClock) -> Int { Int(clock.now.offset / Timeline.tick) }

        func make(_ call: IntegrationCall<String>, _ name: String, _ clock: ManualClock) {
            rows[name] = Row(text: String(repeating: " ", count: tick(clock)))
            var hasBegun = false
            call
                .onBeginning {
                    self.rows[name]?.mark("[", at: self.tick(clock), filling: ".")
                    hasBegun = true
                }
                .onSuccess { value in
                    self.rows[name]?.mark(Character(value.prefix(1).uppercased()), at: self.tick(clock), filling: "=")
                }
                .onCancel { reason in
                    let mark: Character = reason == .superseded ? "x" : reason == .ignored ? "i" : "?"
                    self.rows[name]?.mark(mark, at: self.tick(clock), filling: hasBegun ? "=" : ".")
                }
                .call()
        }
    }

    /// A provider whose requests take eight ticks.
    private struct Eight: DataProvider {
        let clock: ManualClock
        let board: Board

        func request(_ input: String) async throws -> String {
            await board.markRequest("[", clock)
            try await Echo<Void>().delay(Timeline.tick * 8, clock: clock).request(())
            await board.markRequest(Character(input.prefix(1).uppercased()), filling: "=", clock)
            return input
        }
    }
}

extension Page {
    /// Returns the lines of the picture below a heading.
    fileprivate func picture(under heading: String) throws -> [String]? {
        let line = lines.firstIndex { $0.hasPrefix("#") && $0.drop { $0 == "#" } == " \(heading)" }
        let block = try blocks().first { $0.language == "text" && $0.line > line ?? .max }
        return block?.code.split(separator: "\n").map(String.init)
    }
}

extension String {
    /// The words of the line and their columns.
    fileprivate var columns: [(word: String, column: Int)] {
        split(separator: " ").map { (String($0), $0.startIndex.utf16Offset(in: self)) }
    }
}
