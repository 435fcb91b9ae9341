extension TraceRecorder {
    /// The recorded entries as an HTML page with a timeline. The page needs no network and no other file.
    ///
    /// Bars are coloured by outcome. The strip at the bottom of a bar shows the times in which a call waited and ran.
    /// The page follows the light or dark appearance of the system. Its timeline is zoomed by keys, by a pinch, or by
    /// its buttons, and a click or a tap on an entry shows its name, its outcome and its times.
    public var page: String { TracePage(layout, omittedCount: omittedCount).html }

    var layout: TraceLayout { TraceLayout(entries, now: now) }
}

/// Writes a trace as an HTML page. Zero on the page's axis is the beginning of the first entry.
private struct TracePage {
    private let rows: [TraceLayout.Row]
    private let omittedCount: Int
    /// In seconds, as every time here. Durations trap where a number is too large.
    private let start: Double
    private let length: Double

    init(_ layout: TraceLayout, omittedCount: Int) {
        rows = layout.rows
        self.omittedCount = omittedCount
        start = layout.rows.compactMap { $0.entries.first?.start.inSeconds }.min() ?? 0
        length = max(layout.end.inSeconds - start, 0)
    }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style>
        \(TracePageAssets.style)
        </style>
        <header>
        <h1>\(title)</h1>
        <ul id="legend">\(legend)</ul>
        <p id="zoom"><button data-zoom="0.5" title="Zoom out (key −)">−</button>
        <button data-zoom="2" title="Zoom in (key +)">+</button>
        <button data-zoom="0" title="Show all (key 0)">Fit</button>
        <span>Or pinch, or double-click a bar. Keys: + − 0 zoom, ← → move, n p choose an entry.</span></p>
        \(notes)
        </header>
        <div id="flow" tabindex="0" role="region" aria-label="Timeline">
        <div id="lanes" data-length="\(length * 1e6)" style="--step:\(percent(step))">
        <div class="row" id="axis"><div class="name">Time</div><div class="time">\(ticks)</div></div>
        \(rows.map(row).joined(separator: "\n"))
        </div>
        </div>
        <output id="detail" role="status">Click or tap an entry for its times.</output>
        <script>
        \(TracePageAssets.script)
        </script>
        </html>

        """
    }

    /// The names of the first tracks, and the length of the trace.
    private var title: String {
        let tracks = rows.compactMap { $0.entries.first?.track }.reduce(into: [String]()) { tracks, track in
            if tracks.last != track { tracks.append(track) }
        }
        guard !tracks.isEmpty else { return "Empty trace" }
        let rest = tracks.count > 4 ? " and \(tracks.count - 4) more" : ""
        return "\(tracks.prefix(4).joined(separator: ", ").html)\(rest): \(length.asTime)"
    }

    /// The kinds of entries that occur, with the number of entries of each kind.
    private var legend: String {
        var counts: [TraceEntry.Kind: Int] = [:]
        for row in rows {
            for entry in row.entries { counts[entry.kind, default: 0] += 1 }
        }
        return TraceEntry.Kind.allCases.compactMap { kind in
            counts[kind].map { "<li class=\"\(kind)\"><i></i>\(kind.label) <b>\($0)</b></li>" }
        }.joined()
    }

    private var notes: String {
        var notes: [String] = []
        if rows.isEmpty { notes.append("Nothing was recorded.") }
        if start > 0 { notes.append("Zero is the first entry, \(start.asTime) after the recorder was created.") }
        if omittedCount > 0 { notes.append("\(omittedCount) more were not kept: the recorder's limit was reached.") }
        return notes.map { "<p class=\"note\">\($0)</p>" }.joined()
    }

    /// A round time that fits into the trace five to ten times.
    private var step: Double {
        var step = 1e-9
        while step * 10 * 5 <= length { step *= 10 }
        return [5, 2].map { step * $0 }.first { $0 * 5 <= length } ?? step
    }

    /// The labels of the axis without the script, which writes them anew for each width.
    private var ticks: String {
        guard length > 0 else { return "" }
        return (0...min(Int(length / step), 10)).map { number in
            let time = step * Double(number)
            return "<b style=\"left:\(percent(time))\">\(time.asTime)</b>"
        }.joined()
    }

    private func row(_ row: TraceLayout.Row) -> String {
        // A name that is cut off keeps the number of its row.
        let track = row.entries.first?.track ?? row.name
        let number = row.name.unicodeScalars.dropFirst(track.unicodeScalars.count)
        return "<div class=\"row\"><div class=\"name\" title=\"\(row.name.html)\"><span>\(track.html)</span>"
            + "\(String(String.UnicodeScalarView(number)))</div>"
            + "<div class=\"time\">\(row.entries.map(item).joined())</div></div>"
    }

    private func item(_ entry: TraceEntry) -> String {
        let at = entry.start.inSeconds - start
        let duration = (entry.end?.inSeconds ?? start + length) - entry.start.inSeconds
        let shape = entry.isMark ? "mark" : entry.parent == nil ? "whole" : "part"
        let length = entry.isMark ? "" : ", \(entry.end == nil ? "for" : "took") \(duration.asTime)"
        let times = "at \(at.asTime)\(length)"
        let title = [entry.name, entry.outcome, times].filter { !$0.isEmpty }.joined(separator: ", ")
        let width = entry.isMark ? "" : ";width:\(percent(duration))"
        let isDescribed = [.failure, .cancelled].contains(entry.kind)
        let text = entry.name.html + (isDescribed ? " <em>\(entry.outcome.html)</em>" : "")
        return "<i class=\"\(shape) \(entry.kind)\" title=\"\(title.html)\" style=\"left:\(percent(at))\(width)\">"
            + (shape == "whole" ? "<span>\(text)</span>" : "") + "</i>"
    }

    private func percent(_ part: Double) -> String {
        "\(length > 0 ? (part / length * 100_000_000).rounded() / 1_000_000 : 0)%"
    }
}

extension TraceEntry {
    /// The colour of an entry on the page.
    fileprivate enum Kind: CaseIterable {
        case success, failure, cancelled, open, ended, waits, runs, mark

        var label: String {
            switch self {
            case .success: "success"
            case .failure: "failure"
            case .cancelled: "cancelled"
            case .open: "not ended"
            case .ended: "ended"
            case .waits: "waits, paused"
            case .runs: "runs"
            case .mark: "mark"
            }
        }
    }

    fileprivate var kind: Kind {
        if isMark { return ["fail", "damaged"].contains(where: name.hasPrefix) ? .failure : .mark }
        if detail.hasPrefix("success") { return .success }
        if detail.hasPrefix("fail") { return .failure }
        if detail.hasPrefix("cancelled") { return .cancelled }
        guard parent == nil else { return ["waits", "paused"].contains(name) ? .waits : .runs }
        return end == nil ? .open : .ended
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}

extension Double {
    /// A number of seconds, with a unit and about three digits.
    fileprivate var asTime: String {
        switch self {
        case 0: "0"
        case ..<1e-6: "\((self * 1e9).rounded3) ns"
        case ..<1e-3: "\((self * 1e6).rounded3) µs"
        case ..<1: "\((self * 1e3).rounded3) ms"
        default: "\(rounded3) s"
        }
    }

    /// The number with about three digits, without zeros behind its point.
    private var rounded3: String {
        let scale: Double = magnitude < 10 ? 100 : magnitude < 100 ? 10 : 1
        let rounded = (self * scale).rounded() / scale
        return Int(exactly: rounded).map(String.init) ?? "\(rounded)"
    }
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
