import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A timeline", .timeLimit(.ample))
struct TimelineTests {
    @Test("A timeline of .default runs all calls at once")
    func all() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .default, taking: 3, calls: "ab-c", delivers: "ab-(Ac)B-C")
            await Timeline.expect(executing: .default, taking: 2, calls: "(ab)", delivers: "(ab)-(AB)")
        }
    }

    @Test("A timeline of .only ignores calls while one runs")
    func only() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .only, taking: 3, calls: "ab--c", delivers: "a(?b)-Ac--C")
        }
    }

    @Test("A timeline of .queue runs one call at a time")
    func queue() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue, taking: 2, calls: "abc", delivers: "a-(Ab)-(Bc)-C")
            await Timeline.expect(
                executing: .queue(width: 2, limit: 1), taking: 2, calls: "(abcd)", delivers: "(ab?d)-(AcB)-C")
        }
    }

    @Test("A timeline of .latest supersedes calls, and debounces")
    func latest() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .latest, taking: 3, calls: "a-b---c", delivers: "a-(~ab)--Bc--C")
            await Timeline.expect(
                executing: .latest(debounce: Timeline.tick * 2), calls: "ab----c", delivers: "-(~a)-bB---cC")
        }
    }

    @Test("A timeline shows failures")
    func failures() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue, failing: "b", calls: "abc", delivers: "a(Ab)(!bc)C")
        }
    }

    @Test("A timeline shows the values of a stream")
    func streams() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "a-b-|", delivers: "A-B-|") { source, _ in source.map { $0.uppercased() } }
            await Timeline.expect(source: "a-!", delivers: "a-(!|)") { source, _ in source }
            await Timeline.expect(source: "a-----|", delivers: "a--(!|)") { source, clock in
                source.timeout(Timeline.tick * 3, clock: clock)
            }
        }
    }

    @Test("A different timeline fails at its line, with both rows")
    func difference() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            await Timeline.expect(executing: .latest, taking: 3, calls: "a-b", delivers: "a--A-B")
        }
        #expect(failures.map(\.place.line) == [line])
        #expect(
            failures.first?.message == """
                The timelines differ in tick 2: expected -, and (~ab) came.
                  in        a-b    ---
                  expected  a--    A-B
                  heard     a-(~ab)--B
                              ^
                """)
    }

    @Test("A timeline rounds no tick down", arguments: [2365, 2369, 2373, 10_000])
    func farTicks(count: Int) async throws {
        try await TestScope.run {
            let delivers = "a" + String(repeating: "-", count: count - 1) + "A"
            await Timeline.expect(executing: .default, taking: count, calls: "a", delivers: delivers)
        }
    }

    @Test("A failure of a timeline abbreviates a long pause")
    func farAway() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            await Timeline.expect(source: "a", delivers: "a") { source, clock in
                source.timeout(Timeline.tick * 10_000, clock: clock)
            }
            await Timeline.expect(source: "a", delivers: "a") { source, clock in
                source.timeout(Timeline.tick * 41, clock: clock)
            }
        }
        #expect(failures.map(\.place.line) == [line, line + 3])
        #expect(
            failures.map { $0.message.split(separator: "\n").map { $0.drop { $0 == " " } } } == [
                [
                    "The timelines differ in tick 10000: expected -, and (!|) came.", "in        a-…×9997…--   ",
                    "expected  a-…×9997…--   ", "heard     a-…×9997…-(!|)", "^",
                ],
                [
                    "The timelines differ in tick 41: expected -, and (!|) came.",
                    "in        a\(String(repeating: "-", count: 41))   ",
                    "expected  a\(String(repeating: "-", count: 41))   ",
                    "heard     a\(String(repeating: "-", count: 40))(!|)", "^",
                ],
            ])
        let marks = failures.compactMap { $0.message.split(separator: "\n").last?.count }
        #expect(marks == [23, 54])
    }

    @Test("A timeline has a tick at the longest duration")
    func lastTick() async throws {
        let failures = try await TestScope.failures {
            await Timeline.expect(source: "a", delivers: "") { source, clock in
                source
                    >>>> { (value: String) in
                        try await clock.sleep(for: .seconds(Int64.max))
                        return value
                    }
            }
        }
        #expect(failures.count == 1)
        let message = failures.first?.message ?? ""
        #expect(message.hasPrefix("The timelines differ in tick \(Int.max): expected -, and a came.\n"))
        #expect(message.contains("  heard     --…×\(Int.max - 3)…-a\n"))
    }

    @Test("A timeline shows the end of the longest request")
    func longestRequest() async throws {
        let failures = try await TestScope.failures {
            await Timeline.expect(executing: .default, taking: .max, calls: "a", delivers: "a")
        }
        let message = failures.first?.message ?? ""
        #expect(message.hasPrefix("The timelines differ in tick \(Int.max): expected -, and A came."))
    }

    @Test(
        "A timeline that is too long, too short or different fails",
        arguments: ["a-A", "a", "-aA", "aAA", "(aA)", "aB"])
    func mistakes(delivers: String) async throws {
        let failures = try await TestScope.failures {
            await Timeline.expect(executing: .default, calls: "a", delivers: delivers)
        }
        #expect(failures.count == 1)
        #expect(failures.first?.message.hasPrefix("The timelines differ in tick ") == true)
    }

    @Test(
        "An unreadable timeline fails with its symbol",
        arguments: [
            ("(a", "("), ("a)", ")"), ("((a))", "("), ("(a-)", "-"), ("~-", "~-"), ("[a", "["), ("a]", "]"),
            ("[]", "["), ("a~", "~"), ("!", "!"), ("~~a", "~~"), ("?A", "?A"), ("a|", "|"),
            ("Q\u{301}", "Q\u{301}"),
        ])
    func faults(picture: String, fault: String) async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            await Timeline.expect(executing: .default, calls: "a", delivers: picture)
        }
        #expect(failures.map(\.summary) == ["\(line): The picture “\(picture)” has a “\(fault)” where none can be."])
    }

    @Test(
        "An unreadable source row fails with its symbol",
        arguments: [
            ("[a", "[a"), ("[[a]", "[[a]"), ("a]", "]"), ("[[a]]]", "]"), ("(a", "("), ("a)", ")"), ("a~", "~"),
        ])
    func badSources(source: String, fault: String) async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            await Timeline.expect(source: source, delivers: "") { source, _ in source }
        }
        #expect(failures.map(\.summary) == ["\(line): The picture “\(source)” has a “\(fault)” where none can be."])
    }

    @Test(
        "A row of impossible calls fails with its symbol",
        arguments: [
            ("A", "A"), ("1", "1"), ("!a", "!"), ("?a", "?"), ("|", "|"), ("[ab]", "["), ("aa", "a"), ("~a", "~a"),
            ("a~b", "~b"), ("é", "é"), ("q\u{301}", "q\u{301}"), ("a\u{FE0F}", "a\u{FE0F}"),
        ])
    func badCalls(calls: String, fault: String) async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            await Timeline.expect(executing: .default, calls: calls, delivers: "")
        }
        #expect(failures.map(\.summary) == ["\(line): The picture “\(calls)” has a “\(fault)” where none can be."])
    }

    @Test("A timeline distinguishes one long value from several short values")
    func longValues() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "a|", delivers: "[aa]|") { source, _ in source.map { $0 + $0 } }
        }
        let failures = try await TestScope.failures {
            await Timeline.expect(source: "a|", delivers: "(aa)|") { source, _ in source.map { $0 + $0 } }
        }
        #expect(failures.count == 1)
        #expect(failures.first?.message.contains("expected (aa), and [aa] came") == true)
    }

    @Test("A timeline shows values with brackets of their own")
    func brackets() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "a(b[[c]])|", delivers: "[[a]]([[b]][[[c]]])|") { source, _ in
                source.map { [Word(description: $0)] }
            }
        }
    }

    @Test("Brackets around a single character make no difference")
    func needlessBrackets() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "[a]|", delivers: "[a]|") { source, _ in source }
            await Timeline.expect(source: "[a]|", delivers: "a|") { source, _ in source }
            await Timeline.expect(source: "a|", delivers: "[a]|") { source, _ in source }
            await Timeline.expect(source: "[|]([-]a)|", delivers: "[|]([-][a])|") { source, _ in source }
        }
        let failures = try await TestScope.failures {
            await Timeline.expect(source: "|", delivers: "[|]") { source, _ in source }
        }
        #expect(failures.count == 1)
    }

    private struct Word: CustomStringConvertible {
        let description: String
    }

    @Test("Symbols after the end of a source change nothing")
    func afterTheEnd() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "a!--", delivers: "a(!|)") { source, _ in source }
            await Timeline.expect(source: "a!b", delivers: "a(!|)") { source, _ in source }
            await Timeline.expect(source: "(a|)b-", delivers: "(a|)") { source, _ in source }
        }
    }

    @Test("A cancelled timeline fails with the cancel")
    func cancelled() async throws {
        let line = #line + 4
        let test = Task {
            try await TestScope.failures {
                withUnsafeCurrentTask { $0?.cancel() }
                await Timeline.expect(executing: .queue, taking: 2, calls: "ab", delivers: "a-(Ab)-B")
            }
        }
        #expect(
            try await test.value.map(\.summary) == [
                "\(line): Expected the timeline to come to its end, and the test was cancelled before."
            ])
    }

    @Test("Dashes at the end and spaces of a timeline make no difference")
    func looks() async throws {
        try await TestScope.run { await Timeline.expect(executing: .default, calls: "a - - ", delivers: "a A - - - -") }
    }

    @Test("A timeline may have several lines")
    func lines() async throws {
        try await TestScope.run {
            await Timeline.expect(
                executing: .queue, taking: 2,
                calls: """
                    abc
                    \t(de)
                    """,
                delivers: """
                    a-(Ab)-
                    (Bc)-(Cd)-(De)-E
                    """)
            await Timeline.expect(source: "a\n-\r\nb|", delivers: "a-b\n|") { source, _ in source }
        }
    }

    @Test("A line break in a value is escaped in failures")
    func valuesOfSeveralLines() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "[a\nb]-[\n]-|", delivers: "[a\nb]-[\n]-|") { source, _ in source }
        }
        let failures = try await TestScope.failures {
            await Timeline.expect(source: "-[a\n\tb]", delivers: "-[a\\n\r\nb\u{2028}]") { source, _ in source }
            await Timeline.expect(source: "[\n]", delivers: "[ ]") { source, _ in source }
        }
        #expect(
            failures.map(\.message) == [
                #"""
                The timelines differ in tick 1: expected [a\\n\r\nb\u{2028}], and [a\n\tb] came.
                  in        -[a\n\tb]           
                  expected  -[a\\n\r\nb\u{2028}]
                  heard     -[a\n\tb]           
                             ^
                """#,
                #"""
                The timelines differ in tick 0: expected [ ], and [\n] came.
                  in        [\n]
                  expected  [ ] 
                  heard     [\n]
                            ^
                """#,
            ])
    }
}
