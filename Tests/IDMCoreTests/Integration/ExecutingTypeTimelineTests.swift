import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Each executing type as a picture: when calls are made, and what they hear. ``Timeline`` tells how to read one.
@Suite("Executing types as timelines", .timeLimit(.ample))
@MainActor
struct ExecutingTypeTimelineTests {
    @Test("default: all run, and end alone")
    func all() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .default, taking: 3, calls: "ab-c", delivers: "ab-(Ac)B-C")
            await Timeline.expect(
                executing: .default, taking: 2, failing: "b", calls: "(abc)", delivers: "(abc)-(A!bC)")
            await Timeline.expect(executing: .default, taking: 3, calls: "(ab)~a", delivers: "(ab)~a-B")
        }
    }

    @Test("only: what comes meanwhile is ignored")
    func only() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .only, taking: 3, calls: "ab--c", delivers: "a?b-Ac--C")
            // The place is free in the tick in which the value comes, after a failure and after a cancel.
            await Timeline.expect(executing: .only, taking: 2, calls: "abcd", delivers: "a?b(Ac)?dC")
            await Timeline.expect(executing: .only, taking: 2, failing: "a", calls: "a-b", delivers: "a-(!ab)-B")
            await Timeline.expect(executing: .only, taking: 4, calls: "a-(~ab)", delivers: "a-(~ab)---B")
        }
    }

    @Test("only, joining: what comes meanwhile shares the request, and leaves it alone")
    func joining() async throws {
        let type = ExecutingType.only(joining: true)
        try await TestScope.run {
            await Timeline.expect(executing: type, taking: 3, calls: "ab--c", delivers: "ab-(AA)c--C")
            await Timeline.expect(executing: type, taking: 3, failing: "a", calls: "ab~bc", delivers: "ab~b(!ac)--C")
            // The first one leaves, and the request goes on. The last one out cancels it.
            await Timeline.expect(executing: type, taking: 3, calls: "ab~a", delivers: "ab~aA")
            await Timeline.expect(executing: type, taking: 3, calls: "ab(~a~b)c", delivers: "ab(~a~b)c--C")
        }
    }

    @Test("queue: one at a time, in order, whatever becomes of the one before")
    func queue() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue, taking: 2, calls: "abc", delivers: "a-(Ab)-(Bc)-C")
            await Timeline.expect(executing: .queue, failing: "b", calls: "(abc)", delivers: "a(Ab)(!bc)C")
        }
    }

    @Test("queue, with a width and a limit: so many at a time, and those past the limit are ignored")
    func widthAndLimit() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue(width: 2), taking: 2, calls: "(abcd)", delivers: "(ab)-(AcBd)-(CD)")
            let type = ExecutingType.queue(width: 2, limit: 1)
            await Timeline.expect(executing: type, taking: 2, calls: "(abcd)", delivers: "(ab?d)-(AcB)-C")
            await Timeline.expect(executing: .queue(limit: 0), taking: 2, calls: "ab-c", delivers: "a?bA(c)-C")
        }
    }

    @Test("latest: a newer call takes the place of the older one")
    func latest() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .latest, taking: 3, calls: "a-b---c", delivers: "a-(~ab)--Bc--C")
            await Timeline.expect(executing: .latest, taking: 2, calls: "(abc)", delivers: "(a~ab~bc)-C")
            await Timeline.expect(executing: .latest, taking: 2, calls: "ab~b", delivers: "a(~ab)~b")
        }
    }

    @Test("latest, with a debounce: a call starts after the quiet")
    func debounce() async throws {
        let type = ExecutingType.latest(debounce: Timeline.tick * 2)
        try await TestScope.run {
            await Timeline.expect(executing: type, calls: "ab----c", delivers: "-~a-bB---cC")
            // A cancel while it waits, and a newer call while the older one runs.
            await Timeline.expect(executing: type, calls: "a~a", delivers: "-~a")
            await Timeline.expect(executing: type, taking: 3, calls: "a--b", delivers: "--a~a-b--B")
        }
    }

    @Test("lanes: each key has an executing type of its own")
    func lanes() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .only, lanes: ["ac", "b"], taking: 3, calls: "abc", delivers: "ab?cAB")
            await Timeline.expect(
                executing: .queue, lanes: ["ac", "bd"], taking: 2, calls: "(abcd)", delivers: "(ab)-(AcBd)-(CD)")
            await Timeline.expect(
                executing: .latest, lanes: ["ac", "b"], taking: 3, calls: "abc", delivers: "ab(~ac)-BC")
        }
    }

    @Test("cancel: a call that waits never begins, and the next one has its place")
    func cancel() async throws {
        try await TestScope.run {
            await Timeline.expect(executing: .queue, taking: 3, calls: "(abc)~b", delivers: "(a)~b-(Ac)--C")
            await Timeline.expect(executing: .queue, taking: 3, calls: "(abc)~a", delivers: "a(~ab)--(Bc)--C")
            await Timeline.expect(executing: .queue, taking: 3, calls: "(abc)-~c~b", delivers: "a-~c(Ab~b)")
        }
    }
}
