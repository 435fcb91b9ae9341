internal import Foundation

/// The head of a response, put together from the lines that libcurl reports. A pure value.
///
/// Heads of informational responses are dropped, and so are trailers.
struct CurlHeadParser {
    /// The head of a response.
    struct Head: Sendable {
        var status: Int
        var headers: ServiceHeaders
        /// The announced length of the body, packed or not.
        var length: Int64?
        /// True if the body is packed, or may be.
        var isPacked = false
        /// True if a length or chunks end the body, not the connection.
        var isFramed = false
    }

    /// The most lines of all heads of a response together.
    static let lineLimit = 5_000

    private let limit: Int
    private var byteCount = 0
    private var lineCount = 0
    private var status: Int?
    private var fields: [ServiceHeaders.Field] = []
    private var head = Head(status: 0, headers: [:])
    private var isComplete = false

    /// - Parameter limit: The most bytes of all heads of a response together, trailers included.
    init(limit: Int) {
        self.limit = limit
    }

    /// Reads a line with its end. Returns the final head with the line that completes it.
    mutating func read(_ line: UnsafeRawBufferPointer) throws(TransportFault) -> Head? {
        byteCount += line.count
        lineCount += 1
        guard byteCount <= limit else { throw TransportFault(.headerTooLarge(limit: limit)) }
        guard lineCount <= Self.lineLimit else { throw TransportFault(.tooManyHeaders(limit: Self.lineLimit)) }
        guard !isComplete else { return nil }
        let isFolded = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
        let line = line.trimmingWhiteSpace()
        if isFolded {
            if let last = fields.popLast() { fields.append(.init(last.name, "\(last.value) \(Self.text(line))")) }
            return nil
        }
        if line.isEmpty { return try complete() }
        if status == nil {
            status = try Self.status(of: line)
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon]).trimmingWhiteSpace()
            let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]).trimmingWhiteSpace()
            let field = ServiceHeaders.Field(ServiceHeaders.Name(Self.text(name)), Self.text(value))
            try note(field)
            fields.append(field)
        }
        return nil
    }

    private mutating func complete() throws(TransportFault) -> Head? {
        guard let status else { return nil }
        guard status >= 200 || status == 101 else {
            self.status = nil
            fields = []
            head = Head(status: 0, headers: [:])
            return nil
        }
        isComplete = true
        var head = head
        (head.status, head.headers) = (status, ServiceHeaders(fields))
        fields = []
        return head
    }

    /// Looks at what says how the body travels.
    private mutating func note(_ field: ServiceHeaders.Field) throws(TransportFault) {
        if field.name == .contentLength {
            let length = Int64(field.value)
            // A proxy between the server and this client may have taken the other one.
            guard head.length == nil || head.length == length else { throw TransportFault(.malformed) }
            head.length = length
            head.isFramed = true
        } else if field.name == Self.transferEncoding {
            head.isFramed = true
        } else if field.name == Self.contentEncoding {
            head.isPacked = true
        }
    }

    private static let transferEncoding: ServiceHeaders.Name = "Transfer-Encoding"
    private static let contentEncoding: ServiceHeaders.Name = "Content-Encoding"

    /// The number in a status line. A space and a reason behind it may be missing.
    private static func status(of line: UnsafeRawBufferPointer) throws(TransportFault) -> Int {
        let digits = line.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
            .prefix { $0 != UInt8(ascii: " ") }
        guard line.starts(with: "HTTP/".utf8), (1...3).contains(digits.count),
            let status = Int(String(decoding: digits, as: UTF8.self)), status >= 0
        else { throw TransportFault(.malformed) }
        return status
    }

    /// Text that isn't UTF-8 is taken for Latin-1, as it is in older servers.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without spaces, tabs and the ends of lines around them.
    fileprivate func trimmingWhiteSpace() -> UnsafeRawBufferPointer {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }
        var bytes = self[...]
        while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return UnsafeRawBufferPointer(rebasing: bytes)
    }
}
