internal import Foundation

/// Cuts bytes that come in pieces into lines, which end with LF, CR or both.
struct LineSplitter {
    private let limit: Int
    /// Why nothing can be read any more, once something stands in the way. The lines before it are lines still.
    private(set) var fault: HTTPBytes.LineFault?
    private var rest: [UInt8] = []
    private var endedWithCR = false
    private var isAtStart = true

    init(limit: Int) {
        self.limit = limit
    }

    /// The lines that a piece completes.
    mutating func lines(in piece: Data) -> [String] {
        var lines: [String] = []
        for byte in piece {
            defer { endedWithCR = byte == 13 }
            switch byte {
            // The second half of an end that has been seen.
            case 10 where endedWithCR: break
            case 10, 13: lines.append(take())
            default:
                guard rest.count < limit else {
                    fault = .tooLong(limit: limit)
                    return lines
                }
                rest.append(byte)
            }
        }
        return lines
    }

    /// Returns the rest after the last line end, or nil if there is none.
    mutating func last() -> String? {
        rest.isEmpty ? nil : take()
    }

    private mutating func take() -> String {
        // The mark that some put before UTF-8 is no part of the text.
        let hasMark = isAtStart && rest.starts(with: [0xEF, 0xBB, 0xBF])
        let line = String(decoding: hasMark ? rest[3...] : rest[...], as: UTF8.self)
        isAtStart = false
        rest.removeAll(keepingCapacity: true)
        return line
    }
}
