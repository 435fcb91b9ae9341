/// A value with the key under which it was found, as a path from the root of its file.
struct Found<Value: Sendable>: Sendable {
    let value: Value
    let key: String

    init(_ value: Value, at key: String) {
        self.value = value
        self.key = key
    }
}

extension Found<Double> {
    /// Returns a number of seconds as a duration that fits the arithmetic of clocks.
    func seconds() throws(ServiceConfiguration.ReadingFault) -> Duration {
        // Beyond lie times that other arithmetic can't take, and before it such as are too short to be any.
        guard value > 0, value <= 3_155_760_000, Duration.seconds(value) > .zero else {
            throw .malformed(key: key, reason: "it has to be more than zero, and less than a hundred years.")
        }
        return .seconds(value)
    }
}

extension Found<Int> {
    func positive() throws(ServiceConfiguration.ReadingFault) -> Int {
        guard value > 0 else { throw .malformed(key: key, reason: "it has to be more than zero.") }
        return value
    }

    func notNegative() throws(ServiceConfiguration.ReadingFault) -> Int {
        guard value >= 0 else { throw .malformed(key: key, reason: "it can't be less than zero.") }
        return value
    }
}

extension Found<String> {
    func cachePolicy() throws(ServiceConfiguration.ReadingFault) -> ServiceRequest.CachePolicy {
        switch value {
        case "standard": return .standard
        case "reload": return .reload
        case "cacheElseLoad": return .cacheElseLoad
        case "cacheOnly": return .cacheOnly
        default:
            throw .malformed(
                key: key, reason: "it has to be “standard”, “reload”, “cacheElseLoad” or “cacheOnly”.")
        }
    }
}

/// The keys of a configuration, or of one of its environments.
struct ConfigurationSection: Decodable, Sendable {
    struct Header: Sendable {
        let name: String
        let text: Found<String>
    }

    var baseURL: Found<String>?
    var headers: [Header] = []
    var idleTimeout: Found<Double>?
    var totalTimeout: Found<Double>?
    var cachePolicy: Found<String>?
    var maximumBody: Found<Int>?
    var maximumHeader: Found<Int>?
    var maximumRedirects: Found<Int>?
    let environments: [String: ConfigurationSection]?
    private let path: String
    private let isEndpoint: Bool

    /// The name of the base URL's key in this section.
    var baseURLKey: String { isEndpoint ? "Base" : "baseURL" }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        path = decoder.codingPath.dotted
        isEndpoint = decoder.codingPath.first?.stringValue == ConfigurationFile.endpoint
        environments = try container.decodeIfPresent([String: ConfigurationSection].self, forKey: "environments")
        baseURL = try container.found("baseURL") ?? (isEndpoint ? container.found("Base") : nil)
        idleTimeout = try container.found("idleTimeout")
        totalTimeout = try container.found("totalTimeout")
        cachePolicy = try container.found("cachePolicy")
        maximumBody = try container.found("maximumBody")
        maximumHeader = try container.found("maximumHeader")
        maximumRedirects = try container.found("maximumRedirects")
        let headers: Found<[String: String]>? = try container.found("headers")
        self.headers = (headers?.value ?? [:]).sorted { $0.key < $1.key }.map { name, value in
            Header(name: name, text: Found(value, at: "\(headers?.key ?? "").\(name)"))
        }
        if !isEndpoint, let key = container.allKeys.first(where: { !Self.keys.contains($0.stringValue) }) {
            throw ServiceConfiguration.ReadingFault.unknown(key: (container.codingPath + [key]).dotted)
        }
    }

    private static let keys: Set = [
        "baseURL", "headers", "idleTimeout", "totalTimeout", "cachePolicy", "maximumBody", "maximumHeader",
        "maximumRedirects",
        "environments",
    ]

    /// A key of this section as a path from the root.
    func key(_ name: String) -> String {
        path.isEmpty ? name : "\(path).\(name)"
    }

    /// Returns this section with the values of `other` in place of its own.
    func overlaid(by other: ConfigurationSection) -> ConfigurationSection {
        var result = self
        result.baseURL = other.baseURL ?? baseURL
        result.headers = headers + other.headers
        result.idleTimeout = other.idleTimeout ?? idleTimeout
        result.totalTimeout = other.totalTimeout ?? totalTimeout
        result.cachePolicy = other.cachePolicy ?? cachePolicy
        result.maximumBody = other.maximumBody ?? maximumBody
        result.maximumHeader = other.maximumHeader ?? maximumHeader
        result.maximumRedirects = other.maximumRedirects ?? maximumRedirects
        return result
    }
}

/// A whole file: a section, or one with an `Endpoint` section, which is then read instead.
struct ConfigurationFile: Decodable {
    static let endpoint = "Endpoint"

    let section: ConfigurationSection

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        let endpoint = AnyKey(stringLiteral: Self.endpoint)
        section =
            try container.contains(endpoint)
            ? container.decode(ConfigurationSection.self, forKey: endpoint) : ConfigurationSection(from: decoder)
    }
}

extension KeyedDecodingContainer where Key == AnyKey {
    fileprivate func found<Value: Decodable & Sendable>(_ key: AnyKey) throws -> Found<Value>? {
        guard contains(key) else { return nil }
        let path = (codingPath + [key]).dotted
        do {
            return Found(try decode(Value.self, forKey: key), at: path)
        } catch {
            switch error {
            case DecodingError.typeMismatch, DecodingError.valueNotFound: throw error
            // A number that its type can't hold: decoders report it differently, and without its path.
            default: throw ServiceConfiguration.ReadingFault.malformed(key: path, reason: "its value is out of range.")
            }
        }
    }
}
