internal import IDMFiles

/// A path with parameters in it: `/users/{id}/posts/:post`.
///
/// A parameter in braces may be anywhere, one behind a colon only at the start of a segment. Everything else is literal:
/// percent-escapes are kept, and other characters are escaped where necessary.
struct PathTemplate: Sendable, Equatable {
    private enum Piece: Sendable, Equatable {
        case literal(String)
        case parameter(String)
    }

    private let source: String
    private let segments: [[Piece]]

    init(_ source: String) throws(ServiceRequest.Fault) {
        self.source = source
        do throws(Fault) {
            segments = try Self.segments(of: source)
        } catch {
            throw .path(template: source.escapedForDescription(), reason: error.reason)
        }
    }

    var parameters: Set<String> {
        Set(segments.joined().compactMap { if case .parameter(let name) = $0 { name } else { nil } })
    }

    /// The path with a value for each parameter, escaped so that it stays inside of its segment.
    func filled(with values: [String: String]) throws(ServiceRequest.Fault) -> String {
        let unused = values.isEmpty ? [] : Set(values.keys).subtracting(parameters)
        guard unused.isEmpty else { throw .unusedParameters(unused.sorted(), template: source) }
        var filled: [String] = []
        for segment in segments { filled.append(try fill(segment, with: values)) }
        return filled.joined(separator: "/")
    }

    private func fill(_ segment: [Piece], with values: [String: String]) throws(ServiceRequest.Fault) -> String {
        var text = ""
        var lastName: String?
        for piece in segment {
            switch piece {
            case .literal(let literal):
                text += literal
            case .parameter(let name):
                guard let value = values[name] else { throw .missingParameter(name, template: source) }
                guard !value.isEmpty else { throw .parameter(name, template: source, reason: "is empty") }
                text += value.percentEncoded(keeping: .unreserved)
                lastName = name
            }
        }
        if let lastName, text.isDotSegment {
            throw .parameter(lastName, template: source, reason: "makes its segment “.” or “..”")
        }
        return text
    }
}

extension PathTemplate {
    private struct Fault: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    // Scalar by scalar: a slash stays one also before a mark that would be drawn on top of it.
    private static func segments(of source: String) throws(Fault) -> [[Piece]] {
        guard !source.utf8.starts(with: "//".utf8) else { throw Fault("is a URL and not a path") }
        if let colon = source.utf8.firstIndex(of: UInt8(ascii: ":")),
            source.utf8[colon...].starts(with: "://".utf8), source[..<colon].consists(of: .alphanumerics)
        {
            throw Fault("is a URL and not a path")
        }
        var segments: [[Piece]] = []
        for segment in source.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            segments.append(try pieces(of: segment))
        }
        return segments
    }

    private static func pieces(of segment: Substring.UnicodeScalarView) throws(Fault) -> [Piece] {
        if Substring(segment).isDotSegment { throw Fault("has a segment “.” or “..”") }
        var rest = segment
        var pieces: [Piece] = []
        if rest.first == ":" {
            let name = rest.dropFirst().prefix(while: isPartOfName)
            pieces.append(try parameter(name))
            rest = rest[name.endIndex...]
        }
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else {
                throw Fault("has a brace without its partner")
            }
            if brace > rest.startIndex { pieces.append(try literal(Substring(rest[..<brace]))) }
            pieces.append(try parameter(rest[rest.index(after: brace)..<end]))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { pieces.append(try literal(Substring(rest))) }
        return pieces
    }

    private static func parameter(_ name: Substring.UnicodeScalarView) throws(Fault) -> Piece {
        let text = String(Substring(name))
        guard let first = name.first, name.allSatisfy(isPartOfName), !("0"..."9").contains(first) else {
            throw Fault("has a parameter “\(text.escapedForDescription())”, which is no name")
        }
        return .parameter(text)
    }

    private static func literal(_ text: Substring) throws(Fault) -> Piece {
        guard !text.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw Fault("holds a ? or a #, and what follows belongs in the query")
        }
        guard text.hasSoundEscapes else { throw Fault("holds a % without two hexadecimal digits") }
        guard text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else { throw Fault("holds a control character") }
        return .literal(text.percentEncoded(keeping: .pathSegment.union(ByteSet("%"))))
    }

    private static func isPartOfName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
