/// Reads requests out of bytes, however those are split.
///
/// Stricter than servers are: whatever a server might take for something else than the client meant is a fault.
struct RequestParser: Sendable {
    /// The result of a step.
    enum Event: Sendable, Hashable {
        case head(RequestHead)
        /// Some bytes of the body, never none.
        case body(ArraySlice<UInt8>)
        case end
    }

    /// Why it isn't a request.
    struct Fault: Error, Sendable, Hashable {
        /// The end of a sentence.
        let reason: String
    }

    private enum State: Sendable {
        /// Waits for a request, or for the rest of its head.
        case head
        case fixed(rest: Int)
        case chunkSize
        case chunk(rest: Int)
        case chunkEnd
        case trailer
        case ended
        case failed(Fault)
    }

    private static let headLimit = 1 << 20

    private var state = State.head
    /// The bytes of the head, or of the line, that have come so far.
    private var pending: [UInt8] = []
    /// The ranges of the complete lines of the head. Slices would copy the buffer for each line.
    private var lines: [Range<Int>] = []
    /// The number of pending bytes in complete lines.
    private var endOfLines = 0
    private var trailerLength = 0

    init() {}

    /// Reads on, up to the next thing that has come whole. Takes what it has read out of the input; nil, when there has
    /// to come more.
    mutating func next(_ input: inout ArraySlice<UInt8>) throws(Fault) -> Event? {
        do throws(Fault) {
            return try read(&input)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    private mutating func read(_ input: inout ArraySlice<UInt8>) throws(Fault) -> Event? {
        while true {
            switch state {
            case .failed(let fault):
                throw fault
            case .head:
                guard let line = try line(&input) else { return nil }
                // A client may send an empty line behind a request.
                if line.isEmpty && lines.isEmpty {
                    startAnew()
                    continue
                }
                if !line.isEmpty {
                    lines.append(line)
                    continue
                }
                let head = try RequestHead(lines: lines.map { pending[$0] }, bytes: pending)
                startAnew()
                switch head.framing {
                case .length(0): state = .ended
                case .length(let length): state = .fixed(rest: length)
                case .chunks: state = .chunkSize
                }
                return .head(head)
            case .fixed(let rest):
                guard let piece = take(&input, rest) else { return nil }
                state = piece.count == rest ? .ended : .fixed(rest: rest - piece.count)
                return .body(piece)
            case .chunkSize:
                guard let line = try line(&input) else { return nil }
                let size = try Self.chunkSize(pending[line])
                startAnew()
                state = size == 0 ? .trailer : .chunk(rest: size)
            case .chunk(let rest):
                guard let piece = take(&input, rest) else { return nil }
                state = piece.count == rest ? .chunkEnd : .chunk(rest: rest - piece.count)
                return .body(piece)
            case .chunkEnd:
                guard let line = try line(&input) else { return nil }
                guard line.isEmpty else { throw Fault(reason: "a chunk is longer than its size") }
                startAnew()
                state = .chunkSize
            case .trailer:
                guard let line = try line(&input) else { return nil }
                trailerLength += line.count
                guard trailerLength <= Self.headLimit else { throw Fault(reason: "its trailer has no end") }
                startAnew()
                if line.isEmpty { state = .ended }
            case .ended:
                state = .head
                trailerLength = 0
                return .end
            }
        }
    }

    private mutating func startAnew() {
        pending = []
        lines = []
        endOfLines = 0
    }

    private func take(_ input: inout ArraySlice<UInt8>, _ limit: Int) -> ArraySlice<UInt8>? {
        guard !input.isEmpty else { return nil }
        let piece = input.prefix(limit)
        input = input.dropFirst(piece.count)
        return piece
    }

    /// The range of the next line without its end, or nil if it is incomplete.
    private mutating func line(_ input: inout ArraySlice<UInt8>) throws(Fault) -> Range<Int>? {
        let end = input.firstIndex(of: 0x0A)
        let piece = end.map { input[...$0] } ?? input
        input = input.dropFirst(piece.count)
        guard pending.count + piece.count <= Self.headLimit else { throw Fault(reason: "its head has no end") }
        pending += piece
        guard end != nil else { return nil }
        let line = pending[endOfLines..<pending.count - 1]
        guard line.last == 0x0D else { throw Fault(reason: "a line ends without a carriage return") }
        endOfLines = pending.count
        let content = line.dropLast()
        guard !content.contains(where: { $0 == 0x0D || $0 == 0 }) else {
            throw Fault(reason: "a line holds a carriage return or a zero byte")
        }
        return content.indices
    }

    private static func chunkSize(_ line: ArraySlice<UInt8>) throws(Fault) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard (1...15).contains(digits.count), digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Fault(reason: "the size of a chunk isn't a number") }
        return size
    }
}
