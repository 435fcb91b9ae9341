/// The query of an address that may be signed: what it asks for, and what only shows that one may ask.
struct SignedQuery {
    private let items: [(name: String, text: String)]

    /// Parameters that stores add when they sign an address, beside those with a word of ``words`` in their names.
    private static let names: Set = [
        "expires", "googleaccessid", "hdnea", "hdntl", "hdnts", "key-pair-id", "policy", "sig", "verify",
    ]
    private static let prefixes = ["x-amz-", "x-goog-", "x-oss-", "q-sign-", "q-key-", "q-header-", "q-url-"]
    private static let words = ["accesskey", "credential", "signature", "token"]
    /// Names that are too short to mean the same everywhere: they do where a `sig` stands beside them (Azure).
    private static let shared: Set = [
        "se", "si", "sip", "ske", "skoid", "sks", "skt", "sktid", "skv", "sp", "spr", "sr", "srt", "ss", "st", "sv",
    ]

    /// Takes a query apart, which stands behind a `?` and is escaped.
    init(_ query: String) {
        items = query.split(separator: "&").map { item in
            (String(item.prefix { $0 != "=" }).removingEscapes().asciiLowercased(), String(item))
        }
    }

    /// What tells the object from others, in an order that doesn't matter.
    var unsigned: String {
        let isShared = items.contains { $0.name == "sig" }
        return items.filter { item in
            !Self.names.contains(item.name) && !Self.prefixes.contains { item.name.hasPrefix($0) }
                && !Self.words.contains { item.name.contains($0) } && !(isShared && Self.shared.contains(item.name))
        }.map(\.text).sorted().joined(separator: "&")
    }
}
