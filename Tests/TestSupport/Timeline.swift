package import IDMCore
package import IDMTesting

/// Tests executing types and streams as pictures: a row for the input, and a row for the expected events.
///
/// ```swift
/// await Timeline.expect(
///     executing: .latest, taking: 3,
///     calls: "a-b---c",
///     delivers: "a-(~ab)--Bc--C"
/// )
/// ```
///
/// Each place in a row is a tick. `-` is an empty tick, and parentheses hold several events of one tick, in their order.
/// Spaces and line breaks are ignored.
///
/// | calls | meaning | delivers | meaning |
/// |---|---|---|---|
/// | `a` | a call with this input | `a` | the call of `a` has begun |
/// | `~a` | its task is cancelled | `A` | the value of `a` has come |
/// | | | `!a` | it failed |
/// | | | `~a` | it was cancelled or superseded |
/// | | | `?a` | it was ignored |
///
/// Inputs are lower case letters, each for one call, and the value of an input is its upper case.
///
/// | source | meaning | delivers | meaning |
/// |---|---|---|---|
/// | `a` | this value | `a` | this value |
/// | `[ab]` | one value of any length | `[ab]` | one value of any length |
/// | `\|` | the end | `\|` | the end, however it came |
/// | `!` | a failure | `!` | a failure |
/// | | | `~` | the call was cancelled |
///
/// A value is written as its description. Brackets in it come in pairs: `[["a", "b"]]` is an array.
///
/// In each tick first the time moves, with everything that this causes, and then the input of the tick happens. Calls
/// are made on the main actor. After the last tick of the input the time moves on until no task sleeps. Dashes at the
/// end of a row make no difference.
///
/// A ``ManualClock`` moves the time, so the picture depends on what that clock can know of.
///
/// A difference between the rows is a failure that shows both rows. `-…×9997…-` stands for a long pause.
package enum Timeline {
    /// The length of a tick. For debounces: `.latest(debounce: Timeline.tick * 2)`.
    package static let tick = Duration.seconds(1)

    /// Makes calls of an integrator, and compares their events with a picture.
    ///
    /// - Parameters:
    ///   - type: The executing type.
    ///   - lanes: The inputs of each lane. All other inputs share one lane.
    ///   - ticks: The duration of a request in ticks.
    ///   - failing: The inputs whose requests fail.
    ///   - calls: The calls.
    ///   - delivers: The expected events.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    @MainActor
    package static func expect(
        executing type: ExecutingType, lanes: [String] = [], taking ticks: Int = 1, failing: String = "",
        calls: String, delivers: String,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        await expect((calls, .calls), (delivers, .heardOfCalls), at: place) { stage in
            let provider = PictureProvider(ticks: ticks, failing: failing, clock: stage.clock)
            let lane = { @Sendable (input: String) in lanes.firstIndex { $0.contains(input) } }
            let integrator = Integrator(
                provider, executing: type, cancelsWhenReleased: true, lane: lane, clock: stage.clock)
            return { symbol in
                if symbol.hasPrefix("~") {
                    stage.cancel(String(symbol.dropFirst()))
                } else {
                    stage.record(integrator.prepareCall(symbol), as: symbol)
                }
            }
        }
    }

    /// Sends the values of a picture through a provider, and compares the events with another picture.
    ///
    /// The call is made in the first tick. The source sends each value to all open requests, the oldest first; without
    /// an open request the value is lost.
    ///
    /// - Parameters:
    ///   - source: The values, and the end, of the source.
    ///   - delivers: The expected events.
    ///   - transform: Makes the provider from the source, with the clock of the picture.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    @MainActor
    package static func expect<Output: Sendable>(
        source: String, delivers: String,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ transform: (ControlledStreamDataProvider<Void, String>, ManualClock) -> some DataProvider<Void, Output>
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        let stream = ControlledStreamDataProvider<Void, String>()
        await expect((source, .source), (delivers, .heardOfSource), at: place) { stage in
            let integrator = Integrator(transform(stream, stage.clock), cancelsWhenReleased: true, clock: stage.clock)
            stage.record(integrator.prepareCall())
            return { symbol in
                for request in stream.requests where !request.isOver {
                    switch symbol {
                    case "|": request.finish()
                    case "!": request.fail(PictureFailure())
                    default: request.send(symbol.hasPrefix("[") ? String(symbol.dropFirst().dropLast()) : symbol)
                    }
                    // One by one: two resumed requests could overtake each other on their way to the main actor.
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
        let collector = FailureCollector.current
        let rows: (input: TimelineRow, expected: TimelineRow)
        do {
            rows = (try TimelineRow(input.0, input.1), try TimelineRow(expected.0, expected.1))
        } catch {
            return collector.record(error.message, at: place)
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
            // A cancelled clock doesn't wait for rest.
            let words = "Expected the timeline to come to its end, and the test was cancelled before."
            return collector.record(words, at: place)
        }
        collector.record(TimelineRow.difference(in: rows.input, expected: rows.expected, heard: heard), at: place)
    }
}

/// Returns its input in upper case after a number of ticks.
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

/// Records the events of a picture.
@MainActor
private final class PictureStage {
    let clock = ManualClock()
    /// The events of each tick.
    private(set) var heard: [Int: [String]] = [:]
    private var tasks: [String: IntegrationTask<String>] = [:]

    private func hear(_ symbol: String) {
        // In whole numbers: a quotient of durations is rounded.
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
