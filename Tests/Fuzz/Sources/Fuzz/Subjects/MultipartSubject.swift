import Foundation

@testable import IDMHTTP

/// Multipart bodies: whoever cuts one at its boundary finds the parts that were put in, and no others.
enum MultipartSubject {
    static func check(_ input: Input) {
        var input = input
        // Short ones, so that contents hold them.
        var boundaries = (0..<3).map { _ in String(repeating: "b", count: Int(input.byte() % 4) + 1) }
        boundaries.append("the-last-one-0123456789-\(input.rest.count)")
        var parts: [MultipartBody.Part] = []
        var contents: [[UInt8]] = []
        while !input.rest.isEmpty, parts.count < 8 {
            let kind = input.byte()
            let (name, content) = (input.text(), input.bytes())
            if kind % 2 == 0 {
                let text = String(decoding: content, as: UTF8.self)
                parts.append(.text(name, text))
                contents.append(Array(text.utf8))
            } else {
                let (fileName, type) = (input.text(), input.text())
                parts.append(.data(name, Data(content), fileName: kind % 4 == 1 ? fileName : nil, contentType: type))
                contents.append(content)
            }
        }
        var next = boundaries.makeIterator()
        let body = MultipartBody(parts) { next.next() ?? UUID().uuidString }
        guard let segments = try? body.segments() else { return }
        var bytes = Data()
        for case .data(let data) in segments { bytes += data }
        let found = cut(bytes, at: body.boundary)
        expect(found.count == parts.count, "There are \(found.count) parts instead of \(parts.count)")
        for (part, content) in zip(found, contents) {
            guard let end = part.range(of: Data("\r\n\r\n".utf8)) else { fault("A part has no header") }
            let lines = String(decoding: part[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            expect(lines.count <= 2, "A header has a line too many: \(lines)")
            let start = "Content-Disposition: form-data; name=\""
            expect(lines[0].utf8.starts(with: start.utf8), "A header begins otherwise: \(lines)")
            let quotes = lines[0].utf8.count { $0 == UInt8(ascii: "\"") }
            expect(quotes == 2 || quotes == 4, "A name leaves its quotes: \(lines)")
            expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 32 && $0 != 127 } }, "A control character: \(lines)")
            expect(Array(part[end.upperBound...]) == content, "A content has changed")
        }
    }

    private static func cut(_ bytes: Data, at boundary: String) -> [Data] {
        var rest = Data("\r\n".utf8) + bytes
        var parts: [Data] = []
        var isFirst = true
        while let range = rest.range(of: Data("\r\n--\(boundary)".utf8)) {
            if !isFirst { parts.append(Data(rest[..<range.lowerBound])) }
            isFirst = false
            rest = Data(rest[range.upperBound...])
            if rest.starts(with: Data("--\r\n".utf8)) { return rest.count == 4 ? parts : [] }
            guard rest.starts(with: Data("\r\n".utf8)) else { return [] }
            rest = Data(rest.dropFirst(2))
        }
        return []
    }
}
