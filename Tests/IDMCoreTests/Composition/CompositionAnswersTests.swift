import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// The values and errors of compositions, as text: the values in their order, then the error after an exclamation mark.
@Suite(.timeLimit(.ample))
struct CompositionAnswersTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let provider: any DataProvider<Int, Int>
        let answers: String
        let isStream: Bool

        init(_ name: String, _ provider: any DataProvider<Int, Int>, _ answers: String, isStream: Bool = false) {
            (testDescription, self.provider, self.answers, self.isStream) = (name, provider, answers, isStream)
        }
    }

    private static let fails = Failing(Trouble.first)
    private static let cancels = Failing(IntegrationError.cancelled(.superseded))

    private static let transforms = [
        Case("map", Doubler().map { $0 + 1 }, "21"),
        Case("map that suspends", Doubler().map { try await Doubler().request($0) }, "40"),
        Case("map that throws", Doubler().map { _ -> Int in throw Trouble.second }, "!second"),
        Case("map of a stream", Listed(1, 2).map { $0 * 10 }, "110 120", isStream: true),
        Case("mapInput", Doubler().mapInput { $0 + 1 }, "22"),
        Case("mapInput that throws", Doubler().mapInput { (_: Int) in throw Trouble.second }, "!second"),
        Case("mapInput of a stream", Listed(1, 2).mapInput { $0 + 1 }, "12 13", isStream: true),
        Case("mapError of a failure", fails.mapError { _ in Trouble.second }, "!second"),
        Case("mapError of a success", Doubler().mapError { _ in Trouble.second }, "20"),
        Case("mapError of a cancellation", cancels.mapError { _ in Trouble.second }, "!superseded"),
        Case(
            "mapError of a stream that fails", Listed(1, error: Trouble.first).mapError { _ in Trouble.second },
            "11 !second", isStream: true),
        Case("mapError of an empty stream", Listed().mapError { _ in Trouble.second }, "!second", isStream: true),
        Case("a model", Doubler().model(Text.self).map { Int($0.value) ?? 0 }, "20"),
        Case("models of a stream", Listed(1, 2).model(Text.self).map { $0.value.count }, "2 2", isStream: true),
        Case("an erased stream", AnyDataProvider(Listed(1, 2)), "11 12", isStream: true),
        Case("an erased single provider", AnyDataProvider(Doubler()), "20"),
    ]

    private static let recoveries = [
        Case("fallback of a success", Doubler().fallback(to: fails), "20"),
        Case("fallback of a failure", fails.fallback(to: Doubler()), "20"),
        Case("fallback that fails too", fails.fallback(to: Failing(Trouble.second)), "!second"),
        Case("fallback of a cancellation", cancels.fallback(to: Doubler()), "!superseded"),
        Case(
            "fallback of a stream that fails late", Listed(1, error: Trouble.first).fallback(to: Listed(8, 9)),
            "11 18 19", isStream: true),
        Case(
            "fallback of a stream that fails early", Listed(error: Trouble.first).fallback(to: Doubler()), "20",
            isStream: true),
        Case("fallback of an empty stream", Listed().fallback(to: Listed(1)), "11", isStream: true),
        Case(
            "fallback to an empty stream", Listed(1, error: Trouble.first).fallback(to: Listed()), "11 !noAnswer",
            isStream: true),
        Case("retry of a failure", FailingAtFirst(4).retry(4), "10"),
        Case("retry without an end", FailingAtFirst(1_000).retry(.max), "10"),
        Case("too few retries", FailingAtFirst(.max).retry(2), "!first"),
        Case("a negative number of retries", FailingAtFirst(2).retry(.min), "!first"),
        Case("retry of a cancellation", cancels.retry(3), "!superseded"),
        Case("retry of an empty stream", Listed().retry(2), "!noAnswer", isStream: true),
        Case("retry of a stream with a value", Listed(1, error: Trouble.first).retry(9), "11 !first", isStream: true),
        Case(
            "a negative delay", FailingAtFirst(2).retry(2, delay: .constant(.seconds(-1)), clock: ManualClock()), "10"),
    ]

    private static let combinations = [
        Case("sequence", Doubler() >>>> ClosureDataProvider { $0 + 1 } >>>> { $0 * 10 }, "210"),
        Case("then", Doubler().then(Doubler()).then { $0 + 1 }, "41"),
        Case("sequence that fails", Doubler() >>>> fails >>>> Doubler(), "!first"),
        Case("stream, then single", Listed(1, 2) >>>> Doubler(), "22 24", isStream: true),
        Case("single, then stream", Doubler() >>>> Listed(1, 2), "21 22", isStream: true),
        Case("stream, then stream", Listed(10, 20) >>>> Listed(1, 2), "21 22 31 32", isStream: true),
        Case(
            "failing stream, then single", Listed(1, error: Trouble.first) >>>> Doubler(), "22 !first", isStream: true),
        Case("merged", Doubler().merged(with: ValueDataProvider(9)), "20 9", isStream: true),
        Case("merged streams", Listed(1, 2).merged(with: Listed(3)), "11 12 13", isStream: true),
        Case("merged with a failure first", fails.merged(with: Doubler()), "!first", isStream: true),
        Case("attached to a stream", Listed(1, 2).attached(Doubler()), "11 12", isStream: true),
        Case("attached failure", Doubler().attached(fails), "20"),
        Case("coalesced stream", Listed(1, 2).coalesced(), "12"),
        Case("coalesced empty stream", Listed().coalesced(), "!noAnswer"),
        Case("each", Listed(1, 2).each(limit: 2).mapInput { [$0, $0 + 10] }.map { $0[0] * 100 + $0[1] }, "1222"),
        Case("each of nothing", fails.each().mapInput { (_: Int) in [] }.map(\.count), "0"),
        Case("group of a stream", (Listed(1, 2) >><< Doubler()).mapInput { ($0, $0) }.map { $0.0 + $0.1 }, "32"),
        Case("timed stream", Listed(1, 2).timeout(.seconds(1), clock: ManualClock()), "11 12", isStream: true),
        Case("timed failure", fails.timeout(.seconds(1), clock: ManualClock()), "!first"),
        Case("no time", Doubler().timeout(.seconds(-5)), "!timedOut(after: -5.0 seconds)"),
        Case("no delay", Doubler().delay(.seconds(-5), clock: ManualClock()), "20"),
        Case("race of two successes", Doubler().race(with: Doubler()), "20"),
        Case("race after a failure", fails.race(with: Doubler()), "20"),
        Case("race of an empty stream", Listed().race(with: Doubler()), "20"),
        Case(
            "a sequence of values", AsyncSequenceDataProvider { AsyncStream(counting: [$0, $0 + 1]) }, "10 11",
            isStream: true),
    ]

    @Test(arguments: transforms + recoveries + combinations)
    func `a composition has the answers of its table row, read as values or requested`(_ row: Case) async throws {
        let values = await text(row.provider)
        let requested = await requestedText(row.provider)

        let last = values.split(separator: " ").last.map(String.init)
        #expect([values, requested, "\(row.provider.stream != nil)"] == [row.answers, last, "\(row.isStream)"])
    }

    private func text(_ provider: some DataProvider<Int, Int>) async -> String {
        let (values, error) = await collect(AnyDataProvider(provider), 10)
        return (values.map { "\($0)" } + (error.map { ["!\(Self.name($0))"] } ?? [])).joined(separator: " ")
    }

    private func requestedText(_ provider: some DataProvider<Int, Int>) async -> String {
        do {
            return "\(try await provider.request(10))"
        } catch {
            return "!\(Self.name(error))".split(separator: " ").last.map(String.init) ?? ""
        }
    }

    private static func name(_ error: any Error) -> String {
        if case IntegrationError.cancelled(let reason) = error { return "\(reason)" }
        if case DataProviderError.timedOut(let duration) = error { return "timedOut(after: \(duration))" }
        return error as? DataProviderError == .noAnswer ? "noAnswer" : "\(error)"
    }

    @Test func `a provider without the need is not asked`() async throws {
        let (fallback, next, second) = (FailingAtFirst(0), FailingAtFirst(0), FailingAtFirst(0))
        _ = try await Doubler().fallback(to: fallback).request(1)
        _ = try? await (Failing(Trouble.first) >>>> next).request(1)
        var merged = Doubler().merged(with: second).values(for: 1).makeAsyncIterator()

        _ = try await merged.next()

        #expect([fallback.count, next.count, second.count] == [0, 0, 0])
    }

    @Test func `a request sends only the last value of a stream through the next stage`() async throws {
        let next = FailingAtFirst(0)

        #expect(try await (Listed(1, 2, 3) >>>> next).request(0) == 3 && next.count == 1)
    }
}

extension AsyncStream where Element: Sendable {
    fileprivate init(counting values: [Element]) {
        self.init { continuation in
            for value in values { continuation.yield(value) }
            continuation.finish()
        }
    }
}
