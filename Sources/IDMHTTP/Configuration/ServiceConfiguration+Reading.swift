public import Foundation

extension ServiceConfiguration {
    /// Reads a configuration from a property list or a JSON file.
    ///
    /// ```text
    /// {
    ///     "baseURL": "https://api.example.com/v1",
    ///     "headers": { "Accept-Language": "en" },
    ///     "idleTimeout": 20,
    ///     "environments": { "staging": { "baseURL": "https://staging.example.com/v1" } }
    /// }
    /// ```
    ///
    /// The keys are `baseURL`, `headers`, `idleTimeout` and `totalTimeout` (in seconds), `cachePolicy` (a case of
    /// ``ServiceRequest/CachePolicy`` by its name), `maximumBody` and `maximumHeader` (in bytes), `maximumRedirects`
    /// and `environments`. Only the base URL is required. An unknown key is an error, so that misspelt keys are found.
    /// If the file has an `Endpoint` section, as the Info.plist of an app can have, that section is read instead: in it
    /// the base URL may also be named `Base`, and unknown keys are ignored.
    ///
    /// - Parameters:
    ///   - file: A file whose name ends with `.plist` or `.json`.
    ///   - environment: The entry of `environments` whose values replace those beside it. Headers are merged.
    ///   - variable: An environment variable. If it is set and not empty, it is the base URL.
    ///   - variables: The variables in which `variable` is looked up. By default those of the process.
    public init(
        contentsOf file: URL, environment: String? = nil, variable: String? = nil,
        in variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ReadingFault) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw .unreadable(file.lastPathComponent, reason: error.shortReason)
        }
        switch file.pathExtension.asciiLowercased() {
        case "plist": try self.init(propertyList: data, environment: environment, variable: variable, in: variables)
        case "json": try self.init(json: data, environment: environment, variable: variable, in: variables)
        default: throw .unreadable(file.lastPathComponent, reason: "its name ends neither with .plist nor with .json")
        }
    }

    /// Reads a configuration from a property list in memory, as ``init(contentsOf:environment:variable:in:)`` does.
    public init(
        propertyList data: Data, environment: String? = nil, variable: String? = nil,
        in variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ReadingFault) {
        let file = try Self.parsed { try PropertyListSerialization.propertyList(from: data, format: nil) }
        try self.init(file: file, environment, variable, variables)
    }

    /// Reads a configuration from JSON in memory, as ``init(contentsOf:environment:variable:in:)`` does.
    public init(
        json data: Data, environment: String? = nil, variable: String? = nil,
        in variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ReadingFault) {
        let file = try Self.parsed { try JSONSerialization.jsonObject(with: data) }
        try self.init(file: file, environment, variable, variables)
    }

    /// Reads the `Endpoint` section of an app's Info.plist, as ``init(contentsOf:environment:variable:in:)`` does.
    public init(
        infoOf bundle: Bundle, environment: String? = nil, variable: String? = nil,
        in variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ReadingFault) {
        guard let endpoint = bundle.object(forInfoDictionaryKey: "Endpoint") else { throw .missing(key: "Endpoint") }
        try self.init(file: ["Endpoint": endpoint], environment, variable, variables)
    }

    private static func parsed(_ parse: () throws -> Any) throws(ReadingFault) -> Any {
        do {
            return try parse()
        } catch {
            throw .syntax(reason: "its text can't be parsed")
        }
    }

    private init(
        file: Any, _ environment: String?, _ variable: String?, _ variables: [String: String]
    ) throws(ReadingFault) {
        let file = try ConfigurationSection(file: file)
        let sections = try file.sections(of: environment)
        var base = sections.compactMap(\.baseURL).last
        if let variable, let value = variables[variable], !value.isEmpty { base = (value, variable) }
        guard let base else { throw .missing(key: file.baseURLKey) }
        if let variable = base.text.placeholder { throw .variableNotSet(variable, key: base.key) }
        guard let url = URL(string: base.text, encodingInvalidCharacters: false) else {
            throw .malformed(key: base.key, reason: "it isn't a URL.")
        }
        self.init(baseURL: url)
        try ConfigurationSection.check(base.key) { () throws(ServiceRequest.Fault) in _ = try BaseURL(url) }
        for section in sections {
            headers = headers.merging(section.headers)
            idleTimeout = section.idleTimeout ?? idleTimeout
            totalTimeout = section.totalTimeout ?? totalTimeout
            cachePolicy = section.cachePolicy ?? cachePolicy
            limits.body = section.maximumBody ?? limits.body
            limits.header = section.maximumHeader ?? limits.header
            limits.redirects = section.maximumRedirects ?? limits.redirects
        }
    }
}

extension ServiceConfiguration {
    /// The reasons for which a configuration can't be read. They contain no values, since those may be secret.
    public enum ReadingFault: Error, Sendable, Hashable {
        /// The file can't be read, or is neither of the two kinds.
        case unreadable(String, reason: String)
        /// The file isn't what its name says.
        case syntax(reason: String)
        /// A key isn't there. The key is a path from the root of the file.
        case missing(key: String)
        /// A key isn't one of those that a configuration has.
        case unknown(key: String)
        /// The value of a key is still the name of a variable, `$BASE_URL` or `$(BASE_URL)`: the variable isn't set.
        case variableNotSet(String, key: String)
        /// The value of a key or of an environment variable can't be used.
        case malformed(key: String, reason: String)
    }
}

extension ServiceConfiguration.ReadingFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let file, let reason): "The configuration “\(file)” can't be read: \(reason)".endingSentence
        case .syntax(let reason): "The configuration can't be read: \(reason)".endingSentence
        case .missing(let key): "The configuration has no “\(key)”."
        case .unknown(let key): "The configuration has a “\(key)”, which isn't known."
        case .variableNotSet(let name, let key):
            "“\(key)” of the configuration stands for the variable “\(name)”, which isn't set."
        case .malformed(let key, let reason): "“\(key)” of the configuration can't be used: \(reason)".endingSentence
        }
    }
}

extension String {
    /// The name of the variable that this stands for: `$NAME`, `$(NAME)` or `${NAME}`. Nil if it is a value.
    fileprivate var placeholder: String? {
        guard let match = wholeMatch(of: /\$[({]?([A-Za-z_][A-Za-z0-9_]*)[)}]?/) else { return nil }
        return String(match.output.1)
    }
}
