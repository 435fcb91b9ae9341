import Foundation
import IDMHTTP

/// The body of an answer to a certain request.
struct AnswerBody: Sendable {
    let length: Int
    private let content: @Sendable (Range<Int>) -> Data

    init(_ data: Data) {
        let data = data.startIndex == 0 ? data : Data(data)
        length = data.count
        content = { data[$0] }
    }

    init(_ resource: LoopbackServer.Resource, _ range: Range<Int>) {
        length = range.count
        content = { resource.bytes($0.lowerBound + range.lowerBound..<$0.upperBound + range.lowerBound) }
    }

    func bytes(_ range: Range<Int>) -> Data { content(range) }
}

/// The head of an answer to a certain request, with what follows from it.
struct AnswerHead {
    typealias Answer = LoopbackServer.Answer

    let bytes: Data
    let body: AnswerBody
    let framing: Answer.Framing
    let closes: Bool

    init(_ answer: Answer, to request: RequestHead) {
        var status = answer.status
        var fields = answer.fields
        let content: AnswerBody
        switch answer.body {
        case .raw(let data):
            bytes = Data()
            body = AnswerBody(data)
            framing = .untilClose
            closes = true
            return
        case .data(let data):
            content = AnswerBody(data)
        case .resource(let resource):
            let part = RangedPart(of: resource, for: request.headers)
            status = part.status
            fields = part.fields.map { (Array($0.utf8), Array($1.utf8)) } + fields
            content = AnswerBody(resource, part.range)
        }
        func has(_ name: String) -> Bool {
            fields.contains { String(decoding: $0.name, as: UTF8.self).lowercased() == name }
        }
        let hasBody = request.method != .head && status != 204 && status != 304 && !(100..<200).contains(status)
        let mayAnnounce = status != 204 && !(100..<200).contains(status) && !(status == 304 && content.length == 0)
        let saysClose = answer.closes || request.closes
        if mayAnnounce && !has("content-length") && !has("transfer-encoding") {
            switch answer.framing {
            case .length: fields.append(("Content-Length".bytes, "\(content.length)".bytes))
            case .announced(let length): fields.append(("Content-Length".bytes, "\(length)".bytes))
            case .chunks: fields.append(("Transfer-Encoding".bytes, "chunked".bytes))
            case .untilClose: break
            }
        }
        if saysClose && !has("connection") { fields.append(("Connection".bytes, "close".bytes)) }
        var head = Data()
        for interim in answer.interim {
            head += Self.lines(interim.status, interim.headers.map { ($0.name.spelling.bytes, $0.value.bytes) })
        }
        head += Self.lines(status, fields)
        bytes = head
        body = hasBody ? content : AnswerBody(Data())
        framing = hasBody ? answer.framing : .length
        closes = saysClose
    }

    private static func lines(_ status: Int, _ fields: [(name: [UInt8], value: [UInt8])]) -> Data {
        var lines = Data("HTTP/1.1 \(status) \(reasons[status] ?? "Whatever")\r\n".utf8)
        for field in fields { lines += field.name + ": ".utf8 + field.value + "\r\n".utf8 }
        return lines + "\r\n".utf8
    }

    private static let reasons = [
        100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        413: "Content Too Large", 416: "Range Not Satisfiable", 429: "Too Many Requests",
        500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
    ]
}

extension String {
    fileprivate var bytes: [UInt8] { Array(utf8) }
}
