/// Records what happens in a flow, and when, to be looked at.
///
/// ```swift
/// let trace = TraceRecorder()
/// trace.watch(users, as: "users")
/// let profiles = ProfileDataProvider().traced("profiles", by: trace)
/// // … what is to be looked at …
/// print(trace.chromeTrace)  // for Perfetto, and for chrome://tracing
/// print(trace.page)  // a page with a timeline, which needs no network
/// ```
///
/// To watch changes nothing: no order, no actor, no turn. What is recorded stands on tracks, each with a name: a span
/// from its beginning to its end, or a mark at one moment. Good on any actor and thread.
public final class TraceRecorder: Sendable {
    private struct State {
        var entries: [TraceEntry] = []
        var omittedCount = 0
    }

    private let elapsed: @Sendable () -> Duration
    private let limit: Int
    private let state = Locked(State())

    /// Makes a recorder, whose time begins now.
    ///
    /// - Parameters:
    ///   - clock: What measures the times.
    ///   - limit: How many entries are kept. Those that come after are counted, and nothing else.
    public init(clock: any Clock<Duration> = ContinuousClock(), limit: Int = 100_000) {
        elapsed = Self.stopwatch(clock)
        self.limit = limit
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Everything that has been recorded, in the order in which that was done.
    public var entries: [TraceEntry] { state.withLock { $0.entries } }

    /// How many entries came when there was no room left for them.
    public var omittedCount: Int { state.withLock { $0.omittedCount } }

    /// The time since the recorder was made.
    var now: Duration { elapsed() }

    /// Begins a span.
    ///
    /// - Parameters:
    ///   - name: What goes on.
    ///   - track: Where it is shown.
    ///   - parent: The span that it is a part of. It is shown inside of that one, on that one's track.
    public func begin(_ name: String, on track: String, within parent: Span? = nil) -> Span {
        let now = now
        return Span(recorder: self, index: append(TraceEntry(name, on: track, start: now, end: nil), parent))
    }

    /// Marks a moment.
    ///
    /// - Parameters:
    ///   - name: What has happened.
    ///   - track: Where it is shown.
    ///   - parent: The span in which it happened. It is shown inside of that one, on that one's track.
    public func mark(_ name: String, on track: String, within parent: Span? = nil) {
        let now = now
        append(TraceEntry(name, on: track, start: now, end: now, isMark: true), parent)
    }

    /// Adds a span that has ended by now.
    ///
    /// - Parameters:
    ///   - name: What went on.
    ///   - track: Where it is shown.
    ///   - duration: How long it took, up to now. Less than nothing is nothing.
    ///   - detail: What became of it.
    /// - Returns: The span, for what happened within.
    @discardableResult
    public func add(_ name: String, on track: String, lasting duration: Duration, detail: String = "") -> Span {
        let now = now
        var entry = TraceEntry(name, on: track, start: min(max(now - duration, .zero), now), end: now)
        entry.detail = detail
        return Span(recorder: self, index: append(entry, nil))
    }

    @discardableResult
    private func append(_ entry: TraceEntry, _ parent: Span?) -> Int? {
        state.withLock { state in
            guard state.entries.count < limit else {
                state.omittedCount += 1
                return nil
            }
            var entry = entry
            if let parent, parent.recorder === self, let index = parent.index {
                entry.parent = index
                // A part stands where the whole does.
                entry.track = state.entries[index].track
            }
            state.entries.append(entry)
            return state.entries.count - 1
        }
    }

    /// Something that goes on, and is to end.
    public struct Span: Sendable {
        fileprivate let recorder: TraceRecorder
        /// Nil if there was no room for it.
        fileprivate let index: Int?

        /// Ends the span. Only the first end counts.
        ///
        /// - Parameter detail: What became of it.
        public func end(_ detail: String = "") {
            guard let index else { return }
            let now = recorder.now
            recorder.state.withLock { state in
                guard state.entries[index].end == nil else { return }
                state.entries[index].end = now
                state.entries[index].detail = detail
            }
        }

        /// Marks a moment within.
        public func mark(_ name: String) {
            recorder.mark(name, on: "", within: self)
        }
    }
}
