import Foundation

/// Which paths a route is for: `/users/{id}`, `/files/*`.
struct PathPattern: Sendable, Hashable {
    let source: String
    private let segments: [Substring]
    private let isOpen: Bool

    /// Reads a pattern. A name in braces stands for a whole segment, and an asterisk at the end for the rest.
    init(_ source: String) {
        self.source = source
        isOpen = source.hasSuffix("*")
        segments = (isOpen ? source.dropLast() : source[...]).split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Returns the values of the names, or nil if the path doesn't match.
    func parameters(of path: Substring) -> [String: String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard isOpen ? parts.count >= segments.count : parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (place, (segment, part)) in zip(segments, parts).enumerated() {
            if segment.first == "{", segment.last == "}" {
                guard !part.isEmpty else { return nil }
                parameters[String(segment.dropFirst().dropLast())] = part.removingPercentEncoding ?? String(part)
            } else if isOpen && place == segments.count - 1 {
                guard part.hasPrefix(segment) else { return nil }
            } else if segment != part {
                return nil
            }
        }
        return parameters
    }
}
