import TestSupport
import Testing

@testable import IDMCore

/// Every order of moves of a few calls, under every rule. ``AdmissionWalk`` has the model of the contract.
///
/// `IDM_SOAK=1` walks further, for minutes.
@Suite(.serialized, .offThePool, .timeLimit(.ample))
struct AdmissionExplorationTests {
    private static let rules: [AdmissionRule] = [
        .default, .only, .latest(debounces: false), .latest(debounces: true),
        .queue(width: 1, limit: 0), .queue(width: 1, limit: 1), .queue(width: 1, limit: .max),
        .queue(width: 2, limit: 0), .queue(width: 2, limit: 1), .queue(width: 2, limit: .max),
    ]

    /// One rule of each kind.
    private static let fewRules: [AdmissionRule] = [
        .default, .only, .latest(debounces: true), .queue(width: 1, limit: 1), .queue(width: 2, limit: .max),
    ]

    struct Walk: CustomTestStringConvertible {
        let testDescription: String
        let bounds: AdmissionWalk.Bounds
        /// A walk through fewer states is a fault of the walk.
        let states: Int
        var rules = AdmissionExplorationTests.rules
    }

    // Four calls reach every place: two run, one waits and one is ignored, or one runs and the line has a middle.
    private static let walks =
        [
            Walk(
                testDescription: "four calls",
                bounds: .init(calls: 4, kinds: [.withBegin], isThorough: false, endsAll: false), states: 100),
            Walk(
                testDescription: "four calls, when all are cancelled or released",
                bounds: .init(calls: 4, kinds: [.withoutBegin], isThorough: false), states: 200),
            Walk(
                testDescription: "three calls of every kind, with late answers", bounds: .init(calls: 3),
                states: 2_000, rules: Volume.isFull ? rules : fewRules),
            // The other walks treat calls as equal that differ only in their order.
            Walk(
                testDescription: "four distinguished calls",
                bounds: .init(
                    calls: 4, kinds: [.withoutBegin], isThorough: false, endsAll: false, distinguishesTwins: true),
                states: 100),
        ] + (Volume.isFull ? soaks : [])

    private static let soaks = [
        Walk(
            testDescription: "five calls, observed", bounds: .init(calls: 5, kinds: [.withBegin], isThorough: false),
            states: 200),
        Walk(
            testDescription: "five calls, unobserved",
            bounds: .init(calls: 5, kinds: [.withoutBegin], isThorough: false), states: 200),
        Walk(
            testDescription: "five calls with late answers", bounds: .init(calls: 5, kinds: [.withBegin]), states: 200),
        Walk(testDescription: "four calls of every kind", bounds: .init(calls: 4), states: 2_000),
        Walk(
            testDescription: "three distinguished calls of every kind",
            bounds: .init(calls: 3, distinguishesTwins: true), states: 2_000),
    ]

    @Test(arguments: walks.flatMap { walk in walk.rules.map { (walk, $0) } })
    func `calls keep the contract in every order of moves`(walk: Walk, rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, walk.bounds))
        #expect(found.violation == nil)
        #expect(found.states > walk.states)
    }

    @Test(arguments: rules)
    func `many calls keep the contract in random walks`(rule: AdmissionRule) {
        let (calls, walks, length) = Volume.isFull ? (100, 100, 1_000) : (20, 20, 200)
        let walk = AdmissionWalk(rule, .init(calls: calls, endsAll: false))
        #expect(Exploration(of: walk, walks: walks, length: length).violation == nil)
    }
}
