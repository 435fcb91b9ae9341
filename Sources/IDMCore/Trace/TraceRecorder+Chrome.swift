extension TraceRecorder {
    /// The recorded entries as JSON in Chrome's trace format, for Perfetto and chrome://tracing.
    public var chromeTrace: String {
        let layout = layout
        var events: [String] = []
        for (index, row) in layout.rows.enumerated() {
            let place = "\"pid\":1,\"tid\":\(index + 1)"
            events.append("{\"ph\":\"M\",\"name\":\"thread_name\",\(place),\"args\":{\"name\":\(row.name.json)}}")
            events.append("{\"ph\":\"M\",\"name\":\"thread_sort_index\",\(place),\"args\":{\"sort_index\":\(index)}}")
            for entry in row.entries {
                let shape =
                    entry.isMark
                    ? "\"ph\":\"i\",\"s\":\"t\""
                    : "\"ph\":\"X\",\"dur\":\(((entry.end ?? layout.end) - entry.start).microseconds)"
                events.append(
                    "{\(shape),\"name\":\(entry.name.json),\"cat\":\(entry.track.json),"
                        + "\"ts\":\(entry.start.microseconds),\(place),"
                        + "\"args\":{\"outcome\":\(entry.outcome.json)}}")
            }
        }
        return "{\"displayTimeUnit\":\"ms\",\"omitted\":\(omittedCount),\"traceEvents\":[\n"
            + events.joined(separator: ",\n") + "\n]}\n"
    }
}

extension TraceEntry {
    /// The result in words.
    var outcome: String { end == nil ? "open" : detail }
}

extension Duration {
    /// The duration in microseconds, to the nanosecond, as a JSON number. Zero if the clock was set back.
    fileprivate var microseconds: String {
        let (seconds, attoseconds) = max(self, .zero).components
        let nanoseconds = Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000)
        let fraction = String(nanoseconds % 1000)
        return "\(nanoseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
    }
}

extension String {
    /// The text as a JSON string.
    fileprivate var json: String {
        unicodeScalars.reduce(into: "\"") { json, scalar in
            switch scalar {
            case "\"", "\\": json += "\\\(scalar)"
            case "\u{0}"..<" ":
                let code = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - code.count) + code
            default: json.unicodeScalars.append(scalar)
            }
        } + "\""
    }
}
