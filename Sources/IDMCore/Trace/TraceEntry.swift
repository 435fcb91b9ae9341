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
