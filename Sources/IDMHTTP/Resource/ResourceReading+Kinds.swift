public import Foundation

/// Reads JSON into a type that decodes itself.
public protocol DecodableReading<Value>: ResourceReading where Value: Decodable {
    associatedtype Value
    /// The decoder of the JSON. A plain one by default.
    var decoder: JSONDecoder { get }
    /// The path of the value in the body: `data.items`, `data.0`. Nil, the default, for the whole body.
    ///
    /// A dot within a name is written `\.`. Names are those of the body, or those that the decoder's
    /// `keyDecodingStrategy` makes of them.
    var rootKeyPath: String? { get }
    /// The policy for elements of an array that can't be read. By default the whole value fails. Has an effect only if
    /// `Value` is an array.
    var invalidElements: InvalidElementPolicy { get }
}

extension DecodableReading {
    /// A plain decoder.
    public var decoder: JSONDecoder { JSONDecoder() }
    /// The whole body.
    public var rootKeyPath: String? { nil }
    /// The whole fails.
    public var invalidElements: InvalidElementPolicy { .fail }

    /// Decodes the value.
    public func value(from body: Data) throws -> Value {
        try decoder.decode(Value.self, from: body, at: rootKeyPath)
    }
}

extension DecodableReading where Value: RangeReplaceableCollection, Value.Element: Decodable & Sendable {
    /// Decodes the elements, each by itself if bad ones are skipped.
    public func value(from body: Data) throws -> Value {
        try decoder.decode(Value.self, from: body, at: rootKeyPath, invalidElements)
    }
}

extension KeyPathDecoder {
    /// Decodes the elements of what stands at a key path, each by itself if bad ones are skipped.
    fileprivate func decode<Value: RangeReplaceableCollection & Decodable>(
        _ type: Value.Type, from body: Data, at keyPath: String?, _ invalidElements: InvalidElementPolicy
    ) throws -> Value where Value.Element: Decodable {
        guard invalidElements.skips else { return try decode(type, from: body, at: keyPath) }
        let elements = try decode([Attempt<Value.Element>].self, from: body, at: keyPath)
        return Value(
            elements.lazy.compactMap { attempt in
                switch attempt.result {
                case .success(let element): return element
                case .failure(let error):
                    invalidElements.report(error)
                    return nil
                }
            })
    }
}

private struct Attempt<Element: Decodable>: Decodable {
    let result: Result<Element, any Error>

    init(from decoder: any Decoder) throws {
        result = Result { try decoder.singleValueContainer().decode(Element.self) }
    }
}

/// Reads JSON of any shape: into a ``ServiceJSON``, an array or a dictionary of it, or into a value that
/// ``ResourceReading/value(from:)`` makes.
///
/// ```swift
/// struct Names: JSONObjectResource {
///     var request: ServiceRequest { ServiceRequest(.get, "/users") }
///
///     func value(from body: Data) throws -> [String] {
///         try json(from: body)["users"].array?.compactMap(\.string) ?? []
///     }
/// }
/// ```
public protocol JSONObjectReading<Value>: ResourceReading {
    associatedtype Value
    /// The path of the JSON in the body: `data.items`, `data.0`. Nil, the default, for the whole body.
    var rootKeyPath: String? { get }
    /// Returns the value of a body. The default decodes the JSON at ``rootKeyPath``.
    // Declared again: only then a conforming type's own method decides what the value is.
    func value(from body: Data) throws -> Value
}

extension JSONObjectReading {
    /// The whole body.
    public var rootKeyPath: String? { nil }

    /// Returns the JSON at ``rootKeyPath``.
    public func json(from body: Data) throws -> ServiceJSON {
        try JSONDecoder().decode(ServiceJSON.self, from: body, at: rootKeyPath)
    }
}

extension JSONObjectReading where Value == ServiceJSON {
    /// Returns the JSON at ``rootKeyPath``. What a resource is read into that says nothing else.
    public func value(from body: Data) throws -> ServiceJSON { try json(from: body) }
}

extension JSONObjectReading where Value: Decodable {
    /// Decodes the value at ``rootKeyPath``.
    public func value(from body: Data) throws -> Value {
        try JSONDecoder().decode(Value.self, from: body, at: rootKeyPath)
    }
}

/// The body as it is.
public protocol DataReading: ResourceReading where Value == Data {}

extension DataReading {
    /// The body as it is.
    public func value(from body: Data) throws -> Data { body }
}

/// Reads a property list into a type that decodes itself.
public protocol PropertyListReading<Value>: ResourceReading where Value: Decodable {
    associatedtype Value
    /// The decoder of the list. A plain one by default.
    var decoder: PropertyListDecoder { get }
    /// The path of the value in the list: `data.items`, `data.0`. Nil, the default, for the whole list.
    ///
    /// A dot within a name is written `\.`.
    var rootKeyPath: String? { get }
    /// The policy for elements of an array that can't be read. By default the whole value fails. Has an effect only if
    /// `Value` is an array.
    var invalidElements: InvalidElementPolicy { get }
}

extension PropertyListReading {
    /// A plain decoder.
    public var decoder: PropertyListDecoder { PropertyListDecoder() }
    /// The whole list.
    public var rootKeyPath: String? { nil }
    /// The whole fails.
    public var invalidElements: InvalidElementPolicy { .fail }

    /// Decodes the value.
    public func value(from body: Data) throws -> Value {
        try decoder.decode(Value.self, from: body, at: rootKeyPath)
    }
}

extension PropertyListReading where Value: RangeReplaceableCollection, Value.Element: Decodable & Sendable {
    /// Decodes the elements, each by itself if bad ones are skipped.
    public func value(from body: Data) throws -> Value {
        try decoder.decode(Value.self, from: body, at: rootKeyPath, invalidElements)
    }
}
