internal import Foundation
internal import IDMCore

/// A request on its way to the server, for whose response equal requests wait.
enum CacheFetch {
    /// The requests that get the same response, whatever it varies by.
    struct Key: Hashable, Sendable {
        private let address: String
        private let fields: [String]

        init(_ request: CacheRequest) {
            address = request.address
            fields = request.headers.map { "\($0.name.spelling.asciiLowercased()):\($0.value)" }.sorted()
        }
    }

    enum Beginning {
        /// The action ends it.
        case began(FinalAction)
        /// An equal request is on its way. The value is closed when that ends.
        case running(LatestValue<Void>)
    }
}

/// The parts of a request that decide which stored responses can answer it.
struct CacheRequest: Sendable {
    let address: String
    let headers: ServiceHeaders
    /// The header fields with credentials. Nil if there are none.
    let credentials: [String]?
    private let secretNames: [String]
    private let pathParameters: [String: String]
    private let secrets: UnkeptSecrets

    init(
        url: URL, headers: ServiceHeaders, secretNames: [String], pathParameters: [String: String],
        secrets: ServiceRedaction
    ) {
        address = Self.address(of: url)
        self.headers = headers
        self.secretNames = secretNames
        self.pathParameters = pathParameters
        self.secrets = UnkeptSecrets(own: secrets)
        let fields = headers.filter(self.secrets.isBoundToOrigin)
        credentials = fields.isEmpty ? nil : fields.map { "\($0.name.spelling.asciiLowercased()):\($0.value)" }.sorted()
    }

    /// True if the address contains a secret. Its responses are never written to a disk. Computed on demand, since it
    /// takes longer than an answer from memory.
    var isSecret: Bool {
        !secretNames.isEmpty || !secrets.isOpen(address)
            || pathParameters.contains { secrets.isSecret($0.key, $0.value) }
    }

    /// Returns an address without its fragment, which is never sent.
    static func address(of url: URL) -> String {
        let text = url.absoluteString
        return text.firstIndex(of: "#").map { String(text[..<$0]) } ?? text
    }
}
