import IDMCore
import TestSupport
import Testing

@testable import IDMTesting

@Suite("An expected event", .timeLimit(.ample))
struct EventExpectationTests {
    /// Each event, with all that meet it.
    private static let events: [(event: IntegrationEvent<Int>, met: Set<String>)] = [
        (.began, ["began"]),
        (.progressed(IntegrationProgress(fraction: 0.5)), ["progressed(0.5)"]),
        (.progressed(IntegrationProgress(fraction: 0.6)), ["progressed(0.6)"]),
        (.retried(attempt: 1, after: Trouble.first), ["retried(1)", "retried(1, after: first)"]),
        (.retried(attempt: 2, after: Trouble.first), ["retried(2)", "retried(2, after: first)"]),
        (.retried(attempt: 1, after: Trouble.second), ["retried(1)", "retried(1, after: second)"]),
        (.retried(attempt: 1, after: Other.first), ["retried(1)", "retried(1, after: first) of another type"]),
        (.succeeded(1), ["succeeded", "succeeded(1)", "succeeded(where: …) 1"]),
        (.succeeded(2), ["succeeded", "succeeded(2)", "succeeded(where: …) 2"]),
        (.failed(Trouble.first), ["failed", "failed(first)"]),
        (.failed(Trouble.second), ["failed", "failed(second)"]),
        (.failed(Other.first), ["failed", "failed(first) of another type"]),
        (.cancelled(.ignored), ["cancelled(ignored)"]),
        (.cancelled(.superseded), ["cancelled(superseded)"]),
        (.completed, ["completed"]),
    ]

    private enum Other: Error { case first }

    private static let expectations: [(name: String, expectation: EventExpectation<Int>)] = [
        ("began", .began), ("completed", .completed),
        ("progressed(0.5)", .progressed(0.5)), ("progressed(0.6)", .progressed(0.6)),
        ("retried(1)", .retried(1)), ("retried(2)", .retried(2)),
        ("retried(1, after: first)", .retried(1, after: Trouble.first)),
        ("retried(2, after: first)", .retried(2, after: Trouble.first)),
        ("retried(1, after: second)", .retried(1, after: Trouble.second)),
        ("retried(1, after: first) of another type", .retried(1, after: Other.first)),
        ("succeeded", .succeeded), ("succeeded(1)", .succeeded(1)), ("succeeded(2)", .succeeded(2)),
        ("succeeded(where: …) 1", .succeeded { $0 < 2 }), ("succeeded(where: …) 2", .succeeded { $0 > 1 }),
        ("failed", .failed), ("failed(first)", .failed(Trouble.first)), ("failed(second)", .failed(Trouble.second)),
        ("failed(first) of another type", .failed(Other.first)),
        ("cancelled(ignored)", .cancelled(.ignored)), ("cancelled(superseded)", .cancelled(.superseded)),
    ]

    @Test("An expectation is met by its own kind and payload only", arguments: events.indices)
    func meeting(index: Int) {
        let (event, met) = Self.events[index]
        let found = Self.expectations.filter { $0.expectation.isMet(event) }.map(\.name)
        #expect(Set(found) == met)
    }

    @Test("An expectation is described as in failures", arguments: expectations.indices)
    func words(index: Int) {
        let (name, expectation) = Self.expectations[index]
        #expect(expectation.description == name.replacing(/\ (\d|of another type)$/, with: ""))
    }

    @Test("A custom expectation has its condition and its description")
    func own() {
        let expectation = EventExpectation<Int>("odd") {
            if case .succeeded(let value) = $0 { value % 2 == 1 } else { false }
        }
        #expect(expectation.description == "odd")
        #expect(expectation.isMet(.succeeded(1)))
        #expect(!expectation.isMet(.succeeded(2)))
        #expect(!expectation.isMet(.began))
    }

    @Test("A failure abbreviates many events")
    func manyEvents() {
        let values = (1...10_000).map { IntegrationEvent.succeeded($0) }
        let words = (1...10_000).map { "succeeded(\($0))" }
        #expect(IntegrationEvent.words(for: Array(values.prefix(20))) == Array(words.prefix(20)))
        #expect(
            IntegrationEvent.words(for: Array(values.prefix(21)))
                == words.prefix(10) + ["… 6 more …"] + words[16..<21])
        #expect(IntegrationEvent.words(for: values) == words.prefix(10) + ["… 9985 more …"] + words.suffix(5))
    }

    @Test("An abbreviation counts left-out progress once")
    func manyReports() {
        let report = IntegrationEvent<Int>.progressed(IntegrationProgress(fraction: 0.5))
        let reports = Array(repeating: report, count: 100)
        #expect(
            IntegrationEvent.words(for: [.began] + reports + [.completed])
                == ["began", "progressed(0.5)", "…", "progressed(0.5)", "completed"])
        let events = (1...10).map { IntegrationEvent.succeeded($0) } + reports + (11...20).map { .succeeded($0) }
        let words = IntegrationEvent.words(for: events)
        #expect(words.count == 16)
        #expect(words[10] == "… 105 more …")
        #expect(words.suffix(5) == (16...20).map { "succeeded(\($0))" })
    }
}
