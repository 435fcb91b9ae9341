import TestSupport
import Testing

@testable import IDMCore

/// Every order of moves of a few calls, under every rule. ``AdmissionWalk`` has the model of the contract.
///
/// `IDM_SOAK=1` walks further, for minutes.
@Suite(.serialized, .offThePool, .timeLimit(.ample))
struct AdmissionExplorationTests {
    static let rules: [AdmissionRule] = [
        .default, .only, .latest(debounces: false), .latest(debounces: true),
        .queue(width: 1, limit: 0), .queue(width: 1, limit: 1), .queue(width: 1, limit: .max),
        .queue(width: 2, limit: 0), .queue(width: 2, limit: 1), .queue(width: 2, limit: .max),
    ]

    // Four calls reach every place: two run, one waits and one is ignored, or one runs and the line has a middle.

    @Test(arguments: rules)
    func `four calls keep the contract in every order of moves`(rule: AdmissionRule) {
        let bounds = AdmissionWalk.Bounds(calls: 4, kinds: [.withBegin], isThorough: false, endsAll: false)
        let found = Exploration(of: AdmissionWalk(rule, bounds))
        #expect(found.violation == nil)
        #expect(found.states > 100)
    }

    @Test(arguments: rules)
    func `four calls keep the contract when all are cancelled or released`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 4, kinds: [.withoutBegin], isThorough: false)))
        #expect(found.violation == nil)
        #expect(found.states > 200)
    }

    /// One rule of each kind. The soak walks all rules, with four calls.
    private static let kinds: [AdmissionRule] = [
        .default, .only, .latest(debounces: true), .queue(width: 1, limit: 1), .queue(width: 2, limit: .max),
    ]

    @Test(arguments: Volume.isFull ? rules : kinds)
    func `three calls of every kind keep the contract with late answers`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 3)))
        #expect(found.violation == nil)
        #expect(found.states > 2_000)
    }

    /// The other walks treat calls as equal that differ only in their order. This one distinguishes them.
    @Test(arguments: rules)
    func `the order in which equal calls are cancelled makes no difference`(rule: AdmissionRule) {
        var bounds = AdmissionWalk.Bounds(calls: 4, kinds: [.withoutBegin], isThorough: false, endsAll: false)
        bounds.distinguishesTwins = true
        let found = Exploration(of: AdmissionWalk(rule, bounds))
        #expect(found.violation == nil)
        #expect(found.states > 100)
    }

    @Test(arguments: rules)
    func `twenty calls keep the contract in random walks`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 20, endsAll: false)), walks: 20, length: 200)
        #expect(found.violation == nil)
    }
}

@Suite(.serialized, .enabled(if: Volume.isFull, "IDM_SOAK=1 walks this far"), .timeLimit(.ample))
struct AdmissionSoakTests {
    @Test(arguments: AdmissionExplorationTests.rules)
    func `five calls keep the contract when all are cancelled or released`(rule: AdmissionRule) {
        for kind in [SubmissionKind.withBegin, .withoutBegin] {
            let found = Exploration(of: AdmissionWalk(rule, .init(calls: 5, kinds: [kind], isThorough: false)))
            #expect(found.violation == nil)
        }
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `five calls keep the contract with late answers`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 5, kinds: [.withBegin])))
        #expect(found.violation == nil)
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `four calls of every kind keep the contract`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 4)))
        #expect(found.violation == nil)
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `three distinguished calls of every kind keep the contract`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 3, distinguishesTwins: true)))
        #expect(found.violation == nil)
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `a hundred calls keep the contract in random walks`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 100, endsAll: false)), walks: 100, length: 1_000)
        #expect(found.violation == nil)
    }
}
