internal import Foundation

extension ServiceRequest {
    /// The request as a command for a shell, with its secrets redacted.
    ///
    /// With ``ServiceRedaction/none`` the command sends what the service would send, save that a multipart body gets a
    /// boundary of curl's own, that a stream is read from the standard input, that bytes in a part of a multipart body
    /// are named by their number alone, and that curl ends a part's name at an equals sign. Redacted, fields of JSON
    /// and of forms are looked at one by one, and other bodies in memory are named by their length.
    ///
    /// - Parameters:
    ///   - configuration: The service that the request is made for.
    ///   - redaction: What is left out. Nil for the configuration's own.
    /// - Throws: What is wrong with the request, or with the configuration.
    public func curl(
        for configuration: ServiceConfiguration, redacted redaction: ServiceRedaction? = nil
    ) throws(Fault) -> String {
        let redaction = redaction ?? configuration.redaction
        var shown = self
        shown.pathParameters = pathParameters(redacted: redaction)
        shown.didEncode = nil
        return CurlCommand(redaction: redaction).command(try configuration.resolve(shown), body)
    }
}

/// Writes a request as a command.
private struct CurlCommand {
    let redaction: ServiceRedaction

    func command(_ request: TransportRequest, _ body: RequestBody?) -> String {
        var options = [
            request.method == .head ? "--head" : "--request \(request.method.name.quoted)",
            request.address(redacted: redaction).quoted,
        ]
        for field in request.headers where !(body?.isMultipart == true && field.name == .contentType) {
            let value = redaction.value(of: field)
            // With a colon and nothing behind it curl would leave the header out.
            options.append("--header \((value.isEmpty ? "\(field.name);" : "\(field.name): \(value)").quoted)")
        }
        var source = ""
        switch body.map({ payload($0, request.body) }) {
        case .none: break
        case .text(let text): options.append("--data-raw \(text.quoted)")
        case .file(let path): options.append("--data-binary \("@\(path)".quoted)")
        case .parts(let parts): options += parts
        case .piped(let base64):
            source = "printf %s \(base64.quoted) | base64 --decode | "
            options.append("--data-binary @-")
        }
        return source + "curl " + options.joined(separator: " \\\n    ")
    }

    private enum Payload {
        case text(String)
        case file(String)
        case piped(String)
        case parts([String])
    }

    private func payload(_ body: RequestBody, _ encoded: RequestBody.Encoded?) -> Payload {
        switch body.kind {
        case .form(let fields): return .text(fields.encodedForForm(redacted: redaction))
        case .file(let url): return .file(url.path)
        case .stream: return .file("-")
        case .multipart(let body):
            let isPair = redaction.isSecretPair(body.parts.compactMap(\.field))
            return .parts(body.parts.map { option($0, isPair: isPair) })
        case .encoder, .bytes:
            let data = encoded?.data ?? Data()
            if redaction == .none { return verbatim(data) }
            return .text(redaction.redactedJSON(data) ?? "<\(data.count) bytes>")
        }
    }

    private func verbatim(_ data: Data) -> Payload {
        if let text = String(validating: data, as: UTF8.self), !text.utf8.contains(0) { return .text(text) }
        return .piped(data.base64EncodedString())
    }

    /// - Parameter isPair: Whether a part beside this one says that what this one holds is secret.
    private func option(_ part: MultipartBody.Part, isPair: Bool) -> String {
        if let field = part.field, let text = field.content.values.first {
            let isSecret =
                redaction.isSecret(part.name) || isPair && ServiceRedaction.isContent(part.name)
                || redaction.findsSecret(in: text)
            return "--form-string \("\(part.name)=\(isSecret ? ServiceRedaction.mark : text)".quoted)"
        }
        let path =
            switch part.content {
            case .file(let url): url.path
            case .data(let data): "<\(data.count) bytes>"
            }
        var form = "\(part.name)=@\(path.doubleQuoted)"
        if let type = part.contentType { form += ";type=\(type)" }
        if let name = part.fileName { form += ";filename=\(name.doubleQuoted)" }
        return "--form \(form.quoted)"
    }
}

extension MultipartBody.Part {
    /// The part as a field of a form. Nil if it isn't plain text.
    fileprivate var field: ServiceRequest.Query.Item? {
        guard fileName == nil, contentType == nil, case .data(let data) = content else { return nil }
        return ServiceRequest.Query.Item(name, String(decoding: data, as: UTF8.self))
    }
}

extension RequestBody {
    fileprivate var isMultipart: Bool {
        if case .multipart = kind { true } else { false }
    }
}

extension String {
    /// The text as one word of a shell.
    fileprivate var quoted: String {
        "'\(escaped(["'": "'\\''"]))'"
    }

    /// The text as curl reads it in a form, which has its own quotes.
    fileprivate var doubleQuoted: String {
        "\"\(escaped(["\\": "\\\\", "\"": "\\\""]))\""
    }

    // Scalar by scalar, as a shell reads it: a quote counts also before a combining mark.
    private func escaped(_ escapes: [Unicode.Scalar: String]) -> String {
        unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }
}
