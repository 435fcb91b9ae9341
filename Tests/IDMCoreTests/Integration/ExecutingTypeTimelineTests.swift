import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Each executing type as a picture: the calls and their events. ``Timeline`` explains the notation.
@Suite(.timeLimit(.ample))
@MainActor
struct ExecutingTypeTimelineTests {
    @Test func `default runs all calls independently`() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .default, taking: 3, calls: "ab-c", delivers: "ab-(Ac)B-C")
            await Timeline.expect(
                executing: .default, taking: 2, failing: "b", calls: "(abc)", delivers: "(abc)-(A!bC)")
            await Timeline.expect(executing: .default, taking: 3, calls: "(ab)~a", delivers: "(ab)~a-B")
        }
    }

    @Test func `only ignores calls while one runs`() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .only, taking: 3, calls: "ab--c", delivers: "a?b-Ac--C")
            // The place is free in the tick in which the value comes, after a failure and after a cancel.
            await Timeline.expect(executing: .only, taking: 2, calls: "abcd", delivers: "a?b(Ac)?dC")
            await Timeline.expect(executing: .only, taking: 2, failing: "a", calls: "a-b", delivers: "a-(!ab)-B")
            await Timeline.expect(executing: .only, taking: 4, calls: "a-(~ab)", delivers: "a-(~ab)---B")
        }
    }

    @Test func `joining calls share the running request`() async throws {
        let type = ExecutingType.only(joining: true)
        try await TestScope.run {
            await Timeline.expect(executing: type, taking: 3, calls: "ab--c", delivers: "ab-(AA)c--C")
            await Timeline.expect(executing: type, taking: 3, failing: "a", calls: "ab~bc", delivers: "ab~b(!ac)--C")
            // The request continues without its first call, and is cancelled with its last.
            await Timeline.expect(executing: type, taking: 3, calls: "ab~a", delivers: "ab~aA")
            await Timeline.expect(executing: type, taking: 3, calls: "ab(~a~b)c", delivers: "ab(~a~b)c--C")
        }
    }

    @Test func `queue runs one call at a time, in order`() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue, taking: 2, calls: "abc", delivers: "a-(Ab)-(Bc)-C")
            await Timeline.expect(executing: .queue, failing: "b", calls: "(abc)", delivers: "a(Ab)(!bc)C")
        }
    }

    @Test func `queue obeys its width and its limit`() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue(width: 2), taking: 2, calls: "(abcd)", delivers: "(ab)-(AcBd)-(CD)")
            let type = ExecutingType.queue(width: 2, limit: 1)
            await Timeline.expect(executing: type, taking: 2, calls: "(abcd)", delivers: "(ab?d)-(AcB)-C")
            await Timeline.expect(executing: .queue(limit: 0), taking: 2, calls: "ab-c", delivers: "a?bA(c)-C")
        }
    }

    @Test func `latest supersedes the older call`() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .latest, taking: 3, calls: "a-b---c", delivers: "a-(~ab)--Bc--C")
            await Timeline.expect(executing: .latest, taking: 2, calls: "(abc)", delivers: "(a~ab~bc)-C")
            await Timeline.expect(executing: .latest, taking: 2, calls: "ab~b", delivers: "a(~ab)~b")
        }
    }

    @Test func `latest with a debounce starts a call after the interval`() async throws {
        let type = ExecutingType.latest(debounce: Timeline.tick * 2)
        try await TestScope.run {
            await Timeline.expect(executing: type, calls: "ab----c", delivers: "-~a-bB---cC")
            // A cancel while it waits, and a newer call while the older one runs.
            await Timeline.expect(executing: type, calls: "a~a", delivers: "-~a")
            await Timeline.expect(executing: type, taking: 3, calls: "a--b", delivers: "--a~a-b--B")
        }
    }

    @Test func `an executing type applies within each lane`() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .only, lanes: ["ac", "b"], taking: 3, calls: "abc", delivers: "ab?cAB")
            await Timeline.expect(
                executing: .queue, lanes: ["ac", "bd"], taking: 2, calls: "(abcd)", delivers: "(ab)-(AcBd)-(CD)")
            await Timeline.expect(
                executing: .latest, lanes: ["ac", "b"], taking: 3, calls: "abc", delivers: "ab(~ac)-BC")
        }
    }

    @Test func `a cancelled waiting call never begins`() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue, taking: 3, calls: "(abc)~b", delivers: "(a)~b-(Ac)--C")
            await Timeline.expect(executing: .queue, taking: 3, calls: "(abc)~a", delivers: "a(~ab)--(Bc)--C")
            await Timeline.expect(executing: .queue, taking: 3, calls: "(abc)-~c~b", delivers: "a-~c(Ab~b)")
        }
    }
}
