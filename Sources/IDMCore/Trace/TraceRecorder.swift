/// Records calls and requests with their times, to show them on a timeline.
///
/// ```swift
/// let trace = TraceRecorder()
/// trace.watch(users, as: "users")
/// let profiles = ProfileDataProvider().traced("profiles", by: trace)
/// // … make calls …
/// print(trace.chromeTrace)  // for Perfetto, and for chrome://tracing
/// print(trace.page)  // a page with a timeline, which needs no network
/// ```
///
/// Recording changes no order, no actor and no turn of the recorded calls. Entries stand on named tracks. An entry is a
/// span with a beginning and an end, or a mark at one moment. A recorder can be used from any actor or thread.
public final class TraceRecorder: Sendable {
    private struct State {
        var entries: [TraceEntry] = []
        var omittedCount = 0
    }

    private let elapsed: @Sendable () -> Duration
    private let limit: Int
    private let state = Locked(State())

    /// Creates a recorder. Times are measured from now on.
    ///
    /// - Parameters:
    ///   - clock: The clock that measures the times.
    ///   - limit: The maximum number of entries. Entries beyond it are only counted, see ``omittedCount``.
    public init(clock: any Clock<Duration> = ContinuousClock(), limit: Int = 100_000) {
        elapsed = clock.stopwatch()
        self.limit = limit
    }

    /// The entries, in the order in which they were recorded.
    public var entries: [TraceEntry] { state.withLock { $0.entries } }

    /// The number of entries beyond the limit.
    public var omittedCount: Int { state.withLock { $0.omittedCount } }

    /// The time since the recorder was created.
    var now: Duration { elapsed() }

    /// Begins a span. Inside an enclosing span it stands on the track of that.
    public func begin(_ name: String, on track: String, within parent: Span? = nil) -> Span {
        Span(recorder: self, index: append(TraceEntry(name, on: track, start: now, end: nil), parent))
    }

    /// Adds a mark at this moment. Inside an enclosing span it stands on the track of that.
    public func mark(_ name: String, on track: String, within parent: Span? = nil) {
        let now = now
        append(TraceEntry(name, on: track, start: now, end: now, isMark: true), parent)
    }

    /// Adds a span that ends now.
    ///
    /// - Parameters:
    ///   - name: The name of the span.
    ///   - track: The name of the track that shows the span.
    ///   - duration: The length of the span. A negative length counts as zero.
    ///   - detail: The result of the span.
    /// - Returns: The span, for enclosed entries.
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
                entry.track = state.entries[index].track
            }
            state.entries.append(entry)
            return state.entries.count - 1
        }
    }

    /// A span that has begun. It stays open until ``end(_:)`` is called.
    public struct Span: Sendable {
        fileprivate let recorder: TraceRecorder
        /// Nil if the span is beyond the limit of the recorder.
        fileprivate let index: Int?

        /// Ends the span with its result. A second call does nothing.
        public func end(_ detail: String = "") {
            guard let index else { return }
            let now = recorder.now
            recorder.state.withLock { state in
                guard state.entries[index].end == nil else { return }
                state.entries[index].end = now
                state.entries[index].detail = detail
            }
        }

        /// Adds a mark inside the span.
        public func mark(_ name: String) { recorder.mark(name, on: "", within: self) }
    }
}

/// An entry of a ``TraceRecorder``: a span of time, or a mark at one moment.
public struct TraceEntry: Sendable, Hashable {
    /// The name of the span or mark.
    public let name: String
    /// The name of the track that shows the entry.
    public internal(set) var track: String
    /// The time of the beginning, measured from the creation of the recorder.
    public let start: Duration
    /// The time of the end. Nil while the span is open. A mark ends when it begins.
    public internal(set) var end: Duration?
    /// True for a mark, false for a span.
    public let isMark: Bool
    /// The result of the span, for example `success`.
    public internal(set) var detail = ""
    /// The index of the enclosing span among the recorder's entries. Nil for an entry that stands alone.
    public internal(set) var parent: Int?

    init(_ name: String, on track: String, start: Duration, end: Duration?, isMark: Bool = false) {
        self.name = name
        self.track = track
        self.start = start
        self.end = end
        self.isMark = isMark
    }
}
