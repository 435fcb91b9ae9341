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
/// tick, in that order. Spaces mean nothing.
///
/// | in | meaning |
/// |---|---|
/// | `a` | a call with this input; for a source, this value |
/// | `\|` | the source ends |
/// | `!` | the source fails |
///
/// | heard | meaning |
/// |---|---|
/// | `a` | the call of `a` has begun |
/// | `A` | its value |
/// | `!a` | it failed |
/// | `~a` | it was cancelled or superseded |
/// | `?a` | it was ignored |
///
/// Inputs are lower case letters, and the value of a call is its input in upper case. In each tick comes first what the
/// time brings, and then what goes in. Calls are made on the main actor, so what is heard has one order. When the row
/// that goes in is at its end the time goes on until nothing sleeps any more. Nothing at the end of a row makes no
/// difference.
///
/// If the rows differ it is a failure, at the line of the expectation, that shows both under one another.
public enum Timeline {
    /// The length of a tick. For debounces: `.latest(debounce: Timeline.tick * 2)`.
    public static let tick = Duration.seconds(1)

    /// Makes calls of an integrator in a picture, and holds what is heard against another one.
    ///
    /// - Parameters:
    ///   - type: The executing type.
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
        executing type: ExecutingType, taking ticks: Int = 1, failing: String = "", calls: String, hears: String,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        await expect(calls, hears, at: place) { [failing] stage in
            let provider = PictureProvider(ticks: ticks, failing: failing, clock: stage.clock)
            let integrator = Integrator(provider, executing: type, clock: stage.clock)
            return { symbol in stage.record(integrator.prepareCall(symbol), as: symbol) }
        }
    }

    /// Sends the values of a picture through a provider, and holds what comes out against another one.
    ///
    /// The call is made in the first tick, and its beginning isn't shown. The end is heard as `|`, and a failure as
    /// `!`.
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
        await expect(source, hears, at: place) { stage in
            let integrator = Integrator(transform(stream, stage.clock), clock: stage.clock)
            stage.record(integrator.prepareCall())
            return { symbol in
                guard let request = stream.requests.last else { return }
                switch symbol {
                case "|": request.finish()
                case "!": request.fail(PictureFailure())
                default: request.send(symbol)
                }
                withExtendedLifetime(integrator) {}
            }
        }
    }

    @MainActor
    private static func expect(
        _ input: String, _ expected: String, at place: SourcePlace,
        _ prepare: (PictureStage) -> (String) -> Void
    ) async {
        let ledger = FailureLedger.current
        let input = TimelineRow(input)
        let expected = TimelineRow(expected)
        if let fault = input.fault ?? expected.fault { return ledger.record(fault, at: place) }
        let stage = PictureStage()
        let act = prepare(stage)
        for symbols in input.ticks {
            await stage.clock.rest()
            symbols.forEach(act)
            await stage.clock.advance(by: tick)
        }
        await stage.clock.run()
        withExtendedLifetime(act) {}
        let heard = stage.row
        guard heard != expected else { return }
        ledger.record(TimelineRow.difference(in: input, expected: expected, heard: heard), at: place)
    }
}

/// Answers with its input in upper case, after some ticks.
private struct PictureProvider: DataProvider {
    let ticks: Int
    let failing: String
    let clock: ManualClock

    func request(_ input: String) async throws -> String {
        try await DelayDataProvider(
            ValueDataProvider<Void, Void>(()), duration: Timeline.tick * ticks, clock: clock
        ).request(())
        if failing.contains(input) { throw PictureFailure() }
        return input.uppercased()
    }
}

private struct PictureFailure: Error {}

/// Where the events of a picture are heard.
@MainActor
private final class PictureStage {
    let clock = ManualClock()
    private var heard: [(tick: Int, symbol: String)] = []

    var row: TimelineRow {
        var ticks: [[String]] = []
        for (tick, symbol) in heard {
            while ticks.count <= tick { ticks.append([]) }
            ticks[tick].append(symbol)
        }
        return TimelineRow(ticks: ticks)
    }

    private func hear(_ symbol: String) {
        heard.append((Int(clock.now.offset / Timeline.tick), symbol))
    }

    func record(_ call: IntegrationCall<String>, as symbol: String) {
        call
            .onBeginning { self.hear(symbol) }
            .onSuccess { self.hear($0) }
            .onError { _ in self.hear("!\(symbol)") }
            .onCancel { self.hear($0 == .ignored ? "?\(symbol)" : "~\(symbol)") }
            .call()
    }

    func record<Output>(_ call: IntegrationCall<Output>) {
        call
            .onSuccess { self.hear("\($0)") }
            .onError { _ in
                self.hear("!")
            }
            .onCancel { _ in self.hear("~") }
            .onCompletion { self.hear("|") }
            .call()
    }
}
