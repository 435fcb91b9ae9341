internal import Foundation

/// A configuration file, or one of its environments.
struct ConfigurationSection {
    typealias Fault = ServiceConfiguration.ReadingFault

    /// The base URL, and its key as a path from the root of the file.
    private(set) var baseURL: (text: String, key: String)?
    private(set) var headers: ServiceHeaders = [:]
    private(set) var idleTimeout: Duration?
    private(set) var totalTimeout: Duration?
    private(set) var cachePolicy: ServiceRequest.CachePolicy?
    private(set) var maximumBody: Int?
    private(set) var maximumHeader: Int?
    private(set) var maximumRedirects: Int?
    private var environments: [String: ConfigurationSection]?
    private let path: String
    private let isEndpoint: Bool

    /// Reads the `Endpoint` section of a file, or the whole file without one.
    init(file: Any) throws(Fault) {
        guard let root = file as? [String: Any] else { throw .syntax(reason: "it isn't a dictionary") }
        let endpoint = root["Endpoint"]
        try self.init(endpoint ?? root, path: endpoint == nil ? "" : "Endpoint", isEndpoint: endpoint != nil)
    }

    private init(_ object: Any, path: String, isEndpoint: Bool) throws(Fault) {
        (self.path, self.isEndpoint) = (path, isEndpoint)
        guard let values = object as? [String: Any] else { throw Self.wrongType(path, "dictionary") }
        if !isEndpoint, let name = values.keys.sorted().first(where: { !Self.keys.contains($0) }) {
            throw .unknown(key: key(name))
        }
        let base = isEndpoint && values["baseURL"] == nil ? "Base" : "baseURL"
        baseURL = try read(base, of: values, "text", \.string).map { ($0, key(base)) }
        for (name, value) in try read("headers", of: values, "dictionary", \.object)?.sorted(by: { $0.key < $1.key })
            ?? []
        {
            let key = key("headers.\(name)")
            guard let text = value.string else { throw Self.wrongType(key, "text") }
            let field = ServiceHeaders([ServiceHeaders.Field(ServiceHeaders.Name(name), text)])
            try Self.check(key) { () throws(ServiceRequest.Fault) in try field.check() }
            headers = headers.merging(field)
        }
        idleTimeout = try duration("idleTimeout", of: values)
        totalTimeout = try duration("totalTimeout", of: values)
        if let name = try read("cachePolicy", of: values, "text", \.string) {
            guard let policy = Self.policies[name] else {
                let reason = "it has to be “standard”, “reload”, “cacheElseLoad” or “cacheOnly”."
                throw .malformed(key: key("cachePolicy"), reason: reason)
            }
            cachePolicy = policy
        }
        maximumBody = try integer("maximumBody", of: values, from: 1, "it has to be more than zero.")
        maximumHeader = try integer("maximumHeader", of: values, from: 1, "it has to be more than zero.")
        maximumRedirects = try integer("maximumRedirects", of: values, from: 0, "it can't be less than zero.")
        guard let parts = values["environments"] else { return }
        guard let parts = parts as? [String: Any] else { throw Self.wrongType(key("environments"), "dictionary") }
        var environments: [String: ConfigurationSection] = [:]
        for (name, part) in parts {
            environments[name] = try ConfigurationSection(
                part, path: key("environments.\(name)"), isEndpoint: isEndpoint)
        }
        self.environments = environments
    }

    /// The sections that apply, the last one above all others.
    func sections(of environment: String?) throws(Fault) -> [ConfigurationSection] {
        guard let environment else { return [self] }
        guard let environments else { throw .missing(key: key("environments")) }
        guard let part = environments[environment] else { throw .missing(key: key("environments.\(environment)")) }
        return [self, part]
    }

    /// The key of the base URL, as a path from the root.
    var baseURLKey: String { key(isEndpoint ? "Base" : "baseURL") }

    static func check(_ key: String, _ body: () throws(ServiceRequest.Fault) -> Void) throws(Fault) {
        do throws(ServiceRequest.Fault) {
            try body()
        } catch {
            throw .malformed(key: key, reason: "\(error)")
        }
    }

    private static let keys: Set = [
        "baseURL", "headers", "idleTimeout", "totalTimeout", "cachePolicy", "maximumBody", "maximumHeader",
        "maximumRedirects", "environments",
    ]

    private static let policies: [String: ServiceRequest.CachePolicy] = [
        "standard": .standard, "reload": .reload, "cacheElseLoad": .cacheElseLoad, "cacheOnly": .cacheOnly,
    ]

    private func key(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    private static func wrongType(_ key: String, _ type: String) -> Fault {
        .malformed(key: key, reason: "it isn't a \(type).")
    }

    private func read<Value>(
        _ name: String, of values: [String: Any], _ type: String, _ convert: (ServiceJSON) -> Value?
    ) throws(Fault) -> Value? {
        guard let object = values[name] else { return nil }
        guard let json = try? ServiceJSON(jsonObject: object), let value = convert(json) else {
            throw Self.wrongType(key(name), type)
        }
        return value
    }

    private func duration(_ name: String, of values: [String: Any]) throws(Fault) -> Duration? {
        guard let seconds = try read(name, of: values, "number", \.double) else { return nil }
        // Longer times don't fit the arithmetic of clocks, and shorter ones are zero.
        guard seconds > 0, seconds <= 3_155_760_000, Duration.seconds(seconds) > .zero else {
            throw .malformed(key: key(name), reason: "it has to be more than zero, and less than a hundred years.")
        }
        return .seconds(seconds)
    }

    private func integer(
        _ name: String, of values: [String: Any], from least: Int, _ reason: String
    ) throws(Fault) -> Int? {
        guard let value = try read(name, of: values, "whole number", \.int) else { return nil }
        guard value >= least else { throw .malformed(key: key(name), reason: reason) }
        return value
    }
}
