import Foundation
import IDMCore

/// Prints the entries of a trace: beginning, duration, track, name and result.
func show(_ trace: TraceRecorder) {
    print()
    for entry in trace.entries.sorted(by: { $0.start < $1.start }) {
        let length = entry.isMark ? "" : entry.end.map { milliseconds($0 - entry.start) } ?? "open"
        let indent = entry.parent == nil ? "" : "  "
        let text = [entry.name, entry.detail].filter { !$0.isEmpty }.joined(separator: ": ")
        print(
            milliseconds(entry.start).padded(to: -10), length.padded(to: -10), entry.track.padded(to: 8),
            indent + text)
    }
}

private func milliseconds(_ duration: Duration) -> String {
    String(format: "%.1f ms", duration / .milliseconds(1))
}

extension String {
    /// The text with spaces behind it, or before it for a negative width.
    fileprivate func padded(to width: Int) -> String {
        let gap = String(repeating: " ", count: max(abs(width) - count, 0))
        return width < 0 ? gap + self : self + gap
    }
}
