/// Something that a ``TraceRecorder`` has recorded: a span, or a mark.
public struct TraceEntry: Sendable, Hashable {
    /// What goes on.
    public let name: String
    /// Where it is shown.
    public internal(set) var track: String
    /// When it began, from the recorder's beginning on.
    public let start: Duration
    /// When it ended. Nil as long as it goes on. A mark ends when it begins.
    public internal(set) var end: Duration?
    /// Whether it is a moment, and not a span.
    public let isMark: Bool
    /// What became of it.
    public internal(set) var detail = ""
    /// Where the span that it is a part of stands among the recorder's entries.
    public internal(set) var parent: Int?

    init(_ name: String, on track: String, start: Duration, end: Duration?, isMark: Bool = false) {
        self.name = name
        self.track = track
        self.start = start
        self.end = end
        self.isMark = isMark
    }
}
