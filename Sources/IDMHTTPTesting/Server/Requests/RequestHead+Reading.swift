import Foundation
import IDMHTTP

extension RequestHead {
    private typealias Fault = RequestParser.Fault

    /// Reads a head whose lines have come.
    init(lines: [ArraySlice<UInt8>], bytes: [UInt8]) throws(RequestParser.Fault) {
        let words = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3 else { throw Fault(reason: "its first line hasn't three words") }
        guard words[0].isToken else { throw Fault(reason: "its method isn't one") }
        guard !words[1].isEmpty, words[1].allSatisfy({ (33...126).contains($0) }) else {
            throw Fault(reason: "its target holds what must be escaped")
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw Fault(reason: "its version isn't 1.1") }
        var headers = ServiceHeaders()
        for line in lines.dropFirst() {
            let field = try Self.field(line)
            headers.add(field.name, field.value)
        }
        let hosts = headers.values(of: "Host")
        guard hosts.count == 1 || hosts.isEmpty && version == "HTTP/1.0" else {
            throw Fault(reason: "it has \(hosts.count) hosts")
        }
        let connection = headers["Connection"]?.lowercased() ?? ""
        self.init(
            method: ServiceRequest.Method(String(decoding: words[0], as: UTF8.self)),
            target: String(decoding: words[1], as: UTF8.self), headers: headers, bytes: bytes,
            framing: try Self.framing(headers),
            closes: connection.contains("close") || version == "HTTP/1.0" && !connection.contains("keep-alive"),
            awaitsContinue: headers["Expect"]?.lowercased() == "100-continue")
    }

    private static func field(
        _ line: ArraySlice<UInt8>
    ) throws(RequestParser.Fault) -> (name: ServiceHeaders.Name, value: String) {
        // A line that begins with a space was once the rest of the one before it, and is read in two ways now.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].isToken else {
            throw Fault(reason: "a line of its header has no name")
        }
        let value = line[(colon + 1)...].trimmed
        // The bytes of those who write neither ASCII nor UTF-8 are taken for Latin-1.
        let text =
            String(validating: value, as: UTF8.self)
            ?? String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
        return (ServiceHeaders.Name(String(decoding: line[..<colon], as: UTF8.self)), text)
    }

    private static func framing(_ headers: ServiceHeaders) throws(RequestParser.Fault) -> Framing {
        let lengths = headers.values(of: .contentLength)
        let codings = headers.values(of: "Transfer-Encoding")
        guard codings.isEmpty || lengths.isEmpty else {
            throw Fault(reason: "it has both a length and a transfer coding")
        }
        if !codings.isEmpty {
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw Fault(reason: "its transfer coding isn't “chunked”")
            }
            return .chunks
        }
        guard let text = lengths.first else { return .length(0) }
        guard lengths.count == 1, (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let length = Int(text)
        else { throw Fault(reason: "its length isn't one number") }
        return .length(length)
    }
}

extension ArraySlice<UInt8> {
    /// Returns whether the bytes are a token, as methods and header names are.
    fileprivate var isToken: Bool {
        !isEmpty
            && allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// The bytes without the spaces and tabs around them.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return []
        }
        return self[first...last]
    }
}
