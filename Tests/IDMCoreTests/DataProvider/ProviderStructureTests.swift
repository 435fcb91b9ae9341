import IDMCore
import TestSupport
import Testing

@Suite(.timeLimit(.ample))
struct ProviderStructureTests {
    private struct SignIn: DataProvider {
        func request(_ input: String) async throws -> Int { input.count }
    }

    private struct Profile: DataProvider {
        func request(_ input: Int) async throws -> String { "\(input)" }
    }

    private struct Friends: DataProvider {
        func request(_ input: Int) async throws -> [String] { ["\(input)"] }
    }

    private struct Account: DataProvider {
        func request(_ input: Int) async throws -> (Int, Int) { (input, input) }
    }

    private struct Title: DataModel {
        init(from source: String) throws {}
    }

    @Test("a sequence is flat however it was composed")
    func sequence() {
        let left = SignIn() >>>> Profile() >>>> Title.self
        let right = SignIn().then(Profile() >>>> Title.self)
        #expect(left.structure == right.structure)
        #expect(
            left.structure.description == """
                sequence
                ├─ SignIn
                ├─ Profile
                └─ model Title
                """)
    }

    @Test("every composition shows its parts", arguments: Self.compositions)
    func everyWay(structure: ProviderStructure, text: String) {
        #expect(structure.description.replacing("\n", with: "|").replacing("   ", with: " ") == text)
    }

    private static let compositions: [(ProviderStructure, String)] = [
        (SignIn().structure, "SignIn"), (ValueDataProvider<Void, Int>(1).structure, "ValueDataProvider<(), Int>"),
        (Profile().map { $0.count }.structure, "sequence|├─ Profile|└─ map to Int"),
        (ProviderStructure.sequence([.provider("one")]), "one"), (.sequence([]), "sequence"),
        (ClosureDataProvider { (count: Int) in "\(count)" }.structure, "closure: Int → String"),
        (Profile().mapError { $0 }.structure, "map errors|└─ Profile"),
        (Profile().model(Title.self).structure, "sequence|├─ Profile|└─ model Title"),
        (Profile().retry(1).structure, "retry, at most 1 time|└─ Profile"),
        (Profile().retry(-1).structure, "retry, at most 0 times|└─ Profile"),
        (Profile().merged(with: Profile()).structure, "merged|├─ first: Profile|└─ then: Profile"),
        (Profile().attached(Friends()).structure, "attached|├─ answers: Profile|└─ beside it: Friends"),
        (Profile().each().structure, "each|└─ Profile"),
        (Profile().each(limit: 3).structure, "each, 3 at a time|└─ Profile"),
        ((Profile() >><< Friends()).structure, "group|├─ Profile|└─ Friends"),
        ((Profile() >><< Friends()).grouped().structure, "group|├─ Profile|└─ Friends"),
        (
            (Profile() >><< Friends()).collectingResults().structure,
            "group, collecting results|├─ Profile|└─ Friends"
        ),
        (Profile().race(with: Profile()).structure, "race|├─ either: Profile|└─ or: Profile"),
        (AsyncSequenceDataProvider { AsyncStream<Int> { nil } }.structure, "sequence: () → Int"),
    ]

    @Test("a custom type takes part by its structure")
    func ownType() {
        struct Logged<Base: DataProvider>: DataProvider {
            let base: Base
            func request(_ input: Base.Input) async throws -> Base.Output { try await base.request(input) }
            var structure: ProviderStructure { .wrapping(base.structure, in: "logged") }
        }
        let provider: any DataProvider<String, String> = Logged(base: SignIn()) >>>> Profile()
        #expect(
            provider.structure.description == """
                sequence
                ├─ logged
                │  └─ SignIn
                └─ Profile
                """)
    }

    @Test("an empty sequence inside of a sequence is left out")
    func shortSequences() {
        let between = ProviderStructure.sequence([.provider("one"), .sequence([]), .provider("two")])
        #expect(between == .sequence([.provider("one"), .provider("two")]))
    }

    @Test("executing types are shown as they are written")
    func executingTypes() {
        let types: [ExecutingType] = [
            .default, .only, .only(joining: true), .queue, .queue(width: 2), .queue(width: 2, limit: 5), .latest,
            .latest(debounce: .milliseconds(300)), .latest(throttle: .seconds(1)), .latest(throttle: .zero),
        ]
        #expect(
            types.map(\.description) == [
                "default", "only", "only(joining: true)", "queue", "queue(width: 2)", "queue(width: 2, limit: 5)",
                "latest", "latest(debounce: 0.3 seconds)", "latest(throttle: 1.0 seconds)", "latest",
            ])
    }

    @Test("a flow chart joins stages, forks groups and frames wrappers")
    func mermaid() {
        let provider = Account() >>>> Profile().retry(2) >><< Friends()
        #expect(
            provider.structure.mermaid == """
                flowchart LR
                    n1["Account"]
                    n2(("group"))
                    subgraph n3["retry, at most 2 times"]
                        n4["Profile"]
                    end
                    n5["Friends"]
                    n6((" "))
                    n2 --> n4
                    n4 --> n6
                    n2 --> n5
                    n5 --> n6
                    n1 --> n2
                """)
    }

    @Test("a name cannot break out of a flow chart")
    func escapedNames() {
        let structure = ProviderStructure.branches("a\"]\nb", ["#1<x>": .provider("\"\r\n")])
        #expect(
            structure.mermaid == """
                flowchart LR
                    n1{"a#quot;] b"}
                    n2["#quot; "]
                    n3((" "))
                    n1 -->|"#35;1#lt;x#gt;"| n2
                    n2 --> n3
                """)
    }

    @Test(
        "a flow chart shows any name unchanged",
        arguments: [
            // A quote with an accent is one character, and holds a quote.
            ("\"\u{301}", "#quot;\u{301}"), ("<\u{301}b>", "#lt;\u{301}b#gt;"),
            // Between quotes these would be bold, and a sign.
            ("`**a**`", "#96;**a**#96;"), ("&lt;", "#amp;lt;"),
            // There is no such thing as a node with an empty name.
            ("", " "), ("a\u{2028}b\u{85}c", "a b c"), ("ä🍎", "ä🍎"),
        ])
    func strangeNames(name: String, shown: String) {
        #expect(ProviderStructure.provider(name).mermaid == "flowchart LR\n    n1[\"\(shown)\"]")
    }
}
