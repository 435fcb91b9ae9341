extension TraceRecorder {
    /// The recorded entries as an HTML page with a timeline. The page needs no network and no other file.
    public var page: String {
        let layout = layout
        let rows = layout.rows.map { $0.html(until: layout.end) }.joined(separator: "\n")
        let omitted = omittedCount
        return """
            <!DOCTYPE html>
            <html lang="en">
            <meta charset="utf-8">
            <title>Trace</title>
            <style>
            body { font: 13px system-ui, sans-serif; margin: 1em; color: #222; background: #fff }
            #flow { overflow-x: auto; border-top: 1px solid #ccc }
            .row { display: flex; height: 1.9em; border-bottom: 1px solid #eee }
            .name { flex: 0 0 12em; overflow: hidden; white-space: nowrap; position: sticky; left: 0; z-index: 2;
                background: #fff; line-height: 1.9em }
            .time { flex: 1; position: relative }
            .time > i { position: absolute; overflow: hidden; white-space: nowrap; box-sizing: border-box;
                font-style: normal; font-size: 11px; min-width: 2px; padding-left: 2px; border-radius: 2px }
            .whole { top: 0.1em; height: 1.7em; background: #cfe2ff; border: 1px solid #6c9bd9 }
            .part { top: 1.1em; height: 0.6em; font-size: 0 !important; background: #6c9bd9; opacity: 0.6 }
            .waits { background: #d9b36c }
            .failure { background: #f8d0d0; border-color: #c66 }
            .cancelled { background: #e6e6e6; border-color: #999 }
            .open { border-right-style: dashed }
            .time > .mark { top: 0; height: 1.9em; width: 2px; padding: 0; background: #222 }
            </style>
            <h1>\(layout.end.inMilliseconds)</h1>
            <p>Zoom <input type="range" min="100" max="5000" value="100"
            oninput="for (const row of document.querySelectorAll('.row')) row.style.width = this.value + '%'">
            Hold the pointer over a span for its times.\(omitted > 0 ? " \(omitted) more were not kept." : "")</p>
            <div id="flow">
            \(rows)
            </div>
            </html>

            """
    }

    var layout: TraceLayout { TraceLayout(entries, now: now) }
}

extension TraceLayout.Row {
    fileprivate func html(until end: Duration) -> String {
        let items = entries.map { $0.html(until: end) }.joined()
        return "<div class=\"row\"><div class=\"name\" title=\"\(name.html)\">\(name.html)</div>"
            + "<div class=\"time\">\(items)</div></div>"
    }
}

extension TraceEntry {
    fileprivate func html(until last: Duration) -> String {
        let end = end ?? last
        var classes = [isMark ? "mark" : parent == nil ? "whole" : "part"]
        if self.end == nil { classes.append("open") }
        if ["waits", "paused"].contains(name) { classes.append("waits") }
        if let kind = ["failure", "cancelled"].first(where: detail.hasPrefix) { classes.append(kind) }
        let times = isMark ? start.inMilliseconds : "\(start.inMilliseconds) + \((end - start).inMilliseconds)"
        let title = [name, outcome, times].filter { !$0.isEmpty }.joined(separator: ", ")
        let width = isMark ? "" : ";width:\(percent(end - start, of: last))"
        return "<i class=\"\(classes.joined(separator: " "))\" title=\"\(title.html)\""
            + " style=\"left:\(percent(start, of: last))\(width)\">\(isMark ? "" : name.html)</i>"
    }

    private func percent(_ part: Duration, of whole: Duration) -> String {
        "\(whole > .zero ? (part / whole * 100_000).rounded() / 1000 : 0)%"
    }
}

extension Duration {
    fileprivate var inMilliseconds: String { "\((self / .microseconds(1)).rounded() / 1000) ms" }
}

extension String {
    /// The text escaped for HTML, also inside quotes.
    fileprivate var html: String {
        // A quote with an accent is one character, and still ends the value of an attribute.
        unicodeScalars.reduce(into: "") { html, scalar in
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            default: html.unicodeScalars.append(scalar)
            }
        }
    }
}
