internal import Foundation

/// The parts of a request that decide which stored responses can answer it.
struct CacheRequest: Sendable {
    let address: String
    let headers: ServiceHeaders
    /// The header fields that show who asks. Nil if there are none.
    let credentials: [String]?
    /// Whether the address holds a secret, which is never written to a disk.
    let isSecret: Bool

    /// - Parameters:
    ///   - url: The address, with its fragment.
    ///   - headers: The header fields, as they are sent.
    ///   - secretNames: The names of the query items that are marked as secret.
    ///   - pathParameters: The parameters that the path was made of.
    ///   - secrets: The redaction of the configuration.
    init(
        url: URL, headers: ServiceHeaders, secretNames: Set<String>, pathParameters: [String: String],
        secrets: ServiceRedaction
    ) {
        address = Self.address(of: url)
        self.headers = headers
        let redactions = secrets == .standard ? [secrets] : [.standard, secrets]
        let fields = headers.filter { field in redactions.contains { $0.isBoundToOrigin(field) } }
        credentials = fields.isEmpty ? nil : fields.map { "\($0.name.spelling.asciiLowercased()):\($0.value)" }.sorted()
        let text = address
        isSecret =
            !secretNames.isEmpty || redactions.contains { $0.url(text) != text }
            || pathParameters.contains { name, value in
                redactions.contains { $0.isSecretParameter(name, value) }
            }
    }

    /// An address without its fragment, which is never sent.
    static func address(of url: URL) -> String {
        let text = url.absoluteString
        return text.firstIndex(of: "#").map { String(text[..<$0]) } ?? text
    }
}
