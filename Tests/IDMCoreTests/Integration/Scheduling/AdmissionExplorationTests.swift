import TestSupport
import Testing

@testable import IDMCore

/// Everything that can happen to a few calls, in every order, under every rule. ``AdmissionWalk`` says what must hold.
///
/// `IDM_SOAK=1` walks further: minutes instead of seconds.
@Suite(.serialized, .offThePool, .timeLimit(.ample))
struct AdmissionExplorationTests {
    static let rules: [AdmissionRule] = [
        .all, .one, .newest(settles: false), .newest(settles: true),
        .line(width: 1, limit: 0), .line(width: 1, limit: 1), .line(width: 1, limit: .max),
        .line(width: 2, limit: 0), .line(width: 2, limit: 1), .line(width: 2, limit: .max),
    ]

    // Four are enough for every place there is: two that run, one that waits and one that is ignored, or one that runs
    // and a line with a middle.

    @Test(arguments: rules)
    func `four calls keep the contract in every order of start, end, finish and cancel`(rule: AdmissionRule) {
        let bounds = AdmissionWalk.Bounds(calls: 4, ways: [.heard], isThorough: false, endsAll: false)
        let found = Exploration(of: AdmissionWalk(rule, bounds))
        #expect(found.violation == nil)
        #expect(found.states > 100)
    }

    @Test(arguments: rules)
    func `four calls, all cancelled or released at any time, keep the contract in every order`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 4, ways: [.unheard], isThorough: false)))
        #expect(found.violation == nil)
        #expect(found.states > 200)
    }

    /// One of each kind. The soak has them all, with four calls.
    private static let kinds: [AdmissionRule] = [
        .all, .one, .newest(settles: true), .line(width: 1, limit: 1), .line(width: 2, limit: .max),
    ]

    @Test(arguments: Volume.isFull ? rules : kinds)
    func `three calls of every kind, with several values and deaf providers, keep the contract`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 3)))
        #expect(found.violation == nil)
        #expect(found.states > 2_000)
    }

    /// The other walks take calls for the same that differ only in when they were made. Here each is itself.
    @Test(arguments: rules)
    func `it makes no difference which call of several is cancelled first`(rule: AdmissionRule) {
        var bounds = AdmissionWalk.Bounds(calls: 4, ways: [.unheard], isThorough: false, endsAll: false)
        bounds.tellsTwinsApart = true
        let found = Exploration(of: AdmissionWalk(rule, bounds))
        #expect(found.violation == nil)
        #expect(found.states > 100)
    }

    @Test(arguments: rules)
    func `twenty calls keep the contract wherever chance leads them`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 20, endsAll: false)), walks: 20, length: 200)
        #expect(found.violation == nil)
    }
}

@Suite(.serialized, .enabled(if: Volume.isFull, "IDM_SOAK=1 walks this far"), .timeLimit(.ample))
struct AdmissionSoakTests {
    @Test(arguments: AdmissionExplorationTests.rules)
    func `five calls, all cancelled or released at any time, keep the contract in every order`(rule: AdmissionRule) {
        for way in [SubmissionKind.heard, .unheard] {
            let found = Exploration(of: AdmissionWalk(rule, .init(calls: 5, ways: [way], isThorough: false)))
            #expect(found.violation == nil)
        }
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `five calls with several values and deaf providers keep the contract`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 5, ways: [.heard])))
        #expect(found.violation == nil)
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `four calls of every kind keep the contract`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 4)))
        #expect(found.violation == nil)
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `three calls of every kind keep the contract with nothing taken for the same`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 3, tellsTwinsApart: true)))
        #expect(found.violation == nil)
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `a hundred calls keep the contract wherever chance leads them`(rule: AdmissionRule) {
        let found = Exploration(of: AdmissionWalk(rule, .init(calls: 100, endsAll: false)), walks: 100, length: 1_000)
        #expect(found.violation == nil)
    }
}
