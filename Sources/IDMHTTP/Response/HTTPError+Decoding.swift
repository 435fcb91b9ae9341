internal import Foundation

extension HTTPError.DecodingFault {
    init(_ error: any Error, in body: Data, contentType: String? = nil, redacted redaction: ServiceRedaction) {
        let (path, reason) = Self.parts(of: error, in: body)
        let holdsSecret = redaction.isSecret(path, in: body)
        self.init(
            path: path.dotted, reason: holdsSecret ? "the value is secret" : Self.diagnosis(of: body) ?? reason,
            excerpt: redaction.excerpt(of: body, contentType: contentType))
    }

    private static func parts(of error: any Error, in body: Data) -> (path: [any CodingKey], reason: String) {
        switch error {
        case DecodingError.typeMismatch(_, let context): (context.codingPath, words(context.debugDescription))
        case DecodingError.valueNotFound(let type, let context): (context.codingPath, "there is no \(type)")
        case DecodingError.keyNotFound(let key, let context): (context.codingPath + [key], "there is no such key")
        case DecodingError.dataCorrupted(let context):
            (context.codingPath, context.blamesJSON ? flaw(of: body) : words(context.debugDescription))
        case let error as HTTPError.DecodingFault:
            (error.path.isEmpty ? [] : [AnyKey(stringValue: error.path)], error.reason)
        default: ([], error.safeName)
        }
    }

    private static func words(_ text: String) -> String {
        let text = text.escapedForDescription(limit: 200)
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Returns the fault of a body for which a decoder reports only that it isn't JSON. The texts of JSONSerialization
    /// are more precise, but can quote secrets from the body.
    private static func flaw(of body: Data) -> String {
        do {
            _ = try JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
            return "a number doesn't fit its type"
        } catch {
            let words = "\((error as NSError).userInfo[NSDebugDescriptionErrorKey] ?? "")"
            if words.contains("not representable") { return "a number doesn't fit its type" }
            if words.contains("end of file during JSON") { return "the JSON ends too early" }
            let place = words.firstMatch(of: /(character|line \d+, column) \d+/)
            return "the JSON is broken\(place.map { " at \($0.output.0)" } ?? "")"
        }
    }

    /// Returns the kind of a body that can't be JSON at all.
    private static func diagnosis(of body: Data) -> String? {
        guard let first = body.first(where: { ![9, 10, 13, 32].contains($0) }) else { return "the body is empty" }
        return first == UInt8(ascii: "<") ? "the body is markup" : nil
    }
}

extension DecodingError.Context {
    /// True if the decoder reports that the whole body isn't JSON. On Linux it does so for a number that doesn't fit
    /// its type as well.
    fileprivate var blamesJSON: Bool { codingPath.isEmpty && debugDescription.contains("not valid JSON") }
}

extension ServiceRedaction {
    /// Returns true if the value at a path is secret, by a name on the path or by a label beside it.
    fileprivate func isSecret(_ path: [any CodingKey], in body: Data) -> Bool {
        if path.contains(where: { isSecret($0.stringValue) }) { return true }
        guard path.contains(where: { Self.isContent($0.stringValue) }) else { return false }
        var value = try? JSONSerialization.jsonObject(with: body)
        for key in path {
            if let object = value as? [String: Any] {
                if isSecret(key.stringValue, in: object) { return true }
                value = object[key.stringValue]
            } else if let array = value as? [Any], let index = key.intValue, array.indices.contains(index) {
                value = array[index]
            }
        }
        return false
    }
}
