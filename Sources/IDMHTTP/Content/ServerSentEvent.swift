/// An event of a `text/event-stream` (HTML standard).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event. `message` by default.
    public var event: String
    /// The data. Lines are joined with LF.
    public var data: String
    /// The latest id from the server. Empty if it has sent none.
    public var id: String
    /// The latest reconnection time from the server, nil if it has sent none.
    public var retry: Duration?

    /// Makes an event.
    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}

struct ServerSentEventParser {
    private let limit: Int
    private var event = ""
    private var data: String?
    private var id = ""
    /// The id at the end of the last whole message.
    private var dispatchedID = ""
    private var retry: Duration?

    init(limit: Int) {
        self.limit = limit
    }

    /// The id of the last message, for a `Last-Event-ID`. Empty if there is none.
    var lastEventID: String { id }

    /// Drops an incomplete event. The id and the reconnection time stay.
    mutating func beginConnection() {
        (event, data, id) = ("", nil, dispatchedID)
    }

    mutating func read(_ line: String) throws(HTTPBytes.LineFault) -> ServerSentEvent? {
        guard !line.isEmpty else { return dispatch() }
        // Scalar by scalar, as the standard has it: a colon is one also before a mark that is drawn on top of it.
        let name = line.unicodeScalars.prefix { $0 != ":" }
        var rest = line.unicodeScalars[name.endIndex...].dropFirst()
        if rest.first == " " { rest.removeFirst() }
        let value = Substring(rest)
        switch Substring(name) {
        case "event":
            event = String(value)
        case "data":
            let length = data.map { $0.utf8.count + 1 } ?? 0
            guard length + value.utf8.count <= limit else { throw .tooLong(limit: limit) }
            // In place: each line would copy those before it.
            if data == nil { data = "" } else { data?.append("\n") }
            data?.append(contentsOf: value)
        case "id" where !value.utf8.contains(0):
            id = String(value)
        case "retry" where value.consists(of: .digits):
            // A number that is too great to be one is no wish that could be granted.
            if let milliseconds = Int64(value) { retry = .milliseconds(milliseconds) }
        default:
            // A comment, or what a later version of the standard may bring.
            break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            event = ""
            data = nil
            dispatchedID = id
        }
        guard let data else { return nil }
        return ServerSentEvent(event: event.isEmpty ? "message" : event, data: data, id: id, retry: retry)
    }
}
