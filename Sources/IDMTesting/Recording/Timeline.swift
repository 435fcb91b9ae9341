public import IDMCore

/// Tests of executing types and of streams as pictures: a row for what goes in, and a row for what is heard.
///
/// ```swift
/// await Timeline.expect(
///     executing: .latest, taking: 3,
///     calls: "a-b---c",
///     hears: "a-(~ab)--Bc--C"
/// )
/// ```
///
/// Each place in a row is a tick. `-` is a tick in which nothing happens, and parentheses hold what happens in one
/// tick, in that order. Spaces and line breaks mean nothing, so a long row may go on in the next line.
///
/// | calls | meaning | hears | meaning |
/// |---|---|---|---|
/// | `a` | a call with this input | `a` | the call of `a` has begun |
/// | `~a` | its task is cancelled | `A` | the value of `a` has come |
/// | | | `!a` | it failed |
/// | | | `~a` | it was cancelled or superseded |
/// | | | `?a` | it was ignored |
///
/// Inputs are lower case letters, each for one call, and the value of an input is its upper case. A call that joins
/// another one gets the value of that one's input.
///
/// | source | meaning | hears | meaning |
/// |---|---|---|---|
/// | `a` | this value | `a` | this value |
/// | `[ab]` | one value of any length | `[ab]` | one value of any length |
/// | `\|` | the end | `\|` | the end, however it came |
/// | `!` | a failure | `!` | a failure |
/// | | | `~` | the call was cancelled |
///
/// A value is written as its description, spaces and line breaks in it as well. Brackets in it come in pairs:
/// `[["a", "b"]]` is an array.
///
/// In each tick comes first what the time brings, one request after the other with all that comes of it, and then what
/// goes in. Calls are made on the main actor, so what is heard has one order; only among calls that share a request is
/// there none for its end. When the row that goes in is at its end the time goes on until nothing sleeps any more.
/// Dashes at the end of a row make no difference.
///
/// That order, and the tick in which something is heard, hold for what a ``ManualClock`` can know of. A provider of
/// yours that leaves the main actor and waits elsewhere may be heard in a later tick. Compiled without the feature
/// `NonisolatedNonsendingByDefault`, every `async` method leaves it, unless it is marked `nonisolated(nonsending)`.
///
/// If the rows differ, or one can't be read, it is a failure, at the line of the expectation. It shows both rows under
/// one another. `-…×9997…-` in it are as many ticks in which nothing happens as the number says, and two more. What
/// would break a line stands there as in a string literal, `\n` for one.
public enum Timeline {
    /// The length of a tick. For debounces: `.latest(debounce: Timeline.tick * 2)`.
    public static let tick = Duration.seconds(1)

    /// Makes calls of an integrator in a picture, and holds what is heard against another one.
    ///
    /// - Parameters:
    ///   - type: The executing type.
    ///   - lanes: The inputs of each lane. Those in none of them share one. With no lanes at all there is one for all.
    ///   - ticks: How many ticks a request takes.
    ///   - failing: The inputs with which a request fails.
    ///   - calls: When calls are made.
    ///   - hears: What is to be heard.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    @MainActor
    public static func expect(
        executing type: ExecutingType, lanes: [String] = [], taking ticks: Int = 1, failing: String = "",
        calls: String, hears: String,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        await expect((calls, .calls), (hears, .heardOfCalls), at: place) { stage in
            let provider = PictureProvider(ticks: ticks, failing: failing, clock: stage.clock)
            let lane = { @Sendable (input: String) in lanes.firstIndex { $0.contains(input) } }
            let integrator = Integrator(provider, executing: type, lane: lane, clock: stage.clock)
            return { symbol in
                if symbol.hasPrefix("~") {
                    stage.cancel(String(symbol.dropFirst()))
                } else {
                    stage.record(integrator.prepareCall(symbol), as: symbol)
                }
            }
        }
    }

    /// Sends the values of a picture through a provider, and holds what comes out against another one.
    ///
    /// The call is made in the first tick, and its beginning isn't shown. The source sends to every request that asks
    /// it for values at that moment, to the oldest first, and ends all of them. What comes next, for another request or
    /// from the source in the same tick, comes when all that comes of it has come. What it sends while nobody asks is
    /// lost, its end as well: a request that is made later hears what comes later, or nothing.
    ///
    /// - Parameters:
    ///   - source: When the source delivers values, and when it ends or fails.
    ///   - hears: What is to be heard.
    ///   - transform: Makes the provider from the source. The clock is the one of the picture.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    @MainActor
    public static func expect<Output: Sendable>(
        source: String, hears: String,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ transform: (ControlledStreamDataProvider<Void, String>, ManualClock) -> some DataProvider<Void, Output>
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        let stream = ControlledStreamDataProvider<Void, String>()
        await expect((source, .source), (hears, .heardOfSource), at: place) { stage in
            let integrator = Integrator(transform(stream, stage.clock), clock: stage.clock)
            stage.record(integrator.prepareCall())
            return { symbol in
                for request in stream.requests where !request.isOver {
                    switch symbol {
                    case "|": request.finish()
                    case "!": request.fail(PictureFailure())
                    default: request.send(symbol.hasPrefix("[") ? String(symbol.dropFirst().dropLast()) : symbol)
                    }
                    // Let go on at the same time as the next one, it would come to the main actor before or after that.
                    await stage.clock.rest()
                }
                withExtendedLifetime(integrator) {}
            }
        }
    }

    @MainActor
    private static func expect(
        _ input: (String, TimelineRow.Notation), _ expected: (String, TimelineRow.Notation), at place: SourcePlace,
        _ prepare: (PictureStage) -> (String) async -> Void
    ) async {
        let ledger = FailureLedger.current
        let rows: (input: TimelineRow, expected: TimelineRow)
        do {
            rows = (try TimelineRow(input.0, input.1), try TimelineRow(expected.0, expected.1))
        } catch {
            return ledger.record(error.message, at: place)
        }
        let stage = PictureStage()
        let act = prepare(stage)
        for number in 0..<rows.input.length {
            await stage.clock.rest()
            for symbol in rows.input.ticks[number] ?? [] { await act(symbol) }
            await stage.clock.advance(by: tick)
        }
        await stage.clock.run()
        withExtendedLifetime(act) {}
        let heard = TimelineRow(ticks: stage.heard)
        guard heard != rows.expected else { return }
        if Task.isCancelled {
            // Then the clock has waited for nothing.
            let words = "Expected the timeline to come to its end, and the test was cancelled before."
            return ledger.record(words, at: place)
        }
        ledger.record(TimelineRow.difference(in: rows.input, expected: rows.expected, heard: heard), at: place)
    }
}

/// Answers with its input in upper case, after some ticks.
private struct PictureProvider: DataProvider {
    let ticks: Int
    let failing: String
    let clock: ManualClock

    func request(_ input: String) async throws -> String {
        try await clock.sleep(for: Timeline.tick * ticks)
        if failing.contains(input) { throw PictureFailure() }
        return input.uppercased()
    }
}

private struct PictureFailure: Error {}

/// Where the events of a picture are heard.
@MainActor
private final class PictureStage {
    let clock = ManualClock()
    /// What has been heard in each tick.
    private(set) var heard: [Int: [String]] = [:]
    private var tasks: [String: IntegrationTask<String>] = [:]

    private func hear(_ symbol: String) {
        // In whole numbers: a quotient of durations may be a little less than it is. There may be more ticks than
        // numbers for them.
        let tick = Int(clamping: clock.now.offset.attoseconds / Timeline.tick.attoseconds)
        heard[tick, default: []].append(symbol)
    }

    func record(_ call: IntegrationCall<String>, as symbol: String) {
        tasks[symbol] =
            call
            .onBeginning { self.hear(symbol) }
            .onSuccess { self.hear($0) }
            .onError { _ in self.hear("!\(symbol)") }
            .onCancel { self.hear($0 == .ignored ? "?\(symbol)" : "~\(symbol)") }
            .call()
    }

    func cancel(_ symbol: String) {
        tasks[symbol]?.cancel()
    }

    func record<Output>(_ call: IntegrationCall<Output>) {
        call
            .onSuccess { self.hear(TimelineRow.written("\($0)")) }
            .onError { _ in self.hear("!") }
            .onCancel { _ in self.hear("~") }
            .onCompletion { self.hear("|") }
            .call()
    }
}
