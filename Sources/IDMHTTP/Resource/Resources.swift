public import Foundation

/// A value on a server: a request, and the reading of its response.
///
/// Location and reading are two protocols, so that one reading serves servers and files: conform to
/// ``DecodableResource`` or a similar protocol for both, or to this one and to any ``ResourceReading``.
public protocol HTTPResource<Value>: ResourceReading {
    /// The request for the resource.
    var request: ServiceRequest { get }
    /// The rules that are applied before the service's own. None by default.
    var rules: [ResponseRule] { get }
}

extension HTTPResource {
    /// None.
    public var rules: [ResponseRule] { [] }
}

/// JSON on a server, read into a type that decodes itself.
///
/// ```swift
/// struct CitiesResource: DecodableResource {
///     let continent: String
///     var request: ServiceRequest {
///         ServiceRequest(.get, "/{continent}.json", pathParameters: ["continent": continent])
///     }
///     typealias Value = [City]
///     var rootKeyPath: String? { "cities" }
/// }
/// ```
public protocol DecodableResource<Value>: HTTPResource, DecodableReading {
    associatedtype Value
}

/// JSON on a server, of any shape: a ``ServiceJSON`` unless the resource names another `Value`, or makes one in a
/// `value(from:)` of its own.
public protocol JSONObjectResource<Value>: HTTPResource, JSONObjectReading {
    associatedtype Value
    /// Returns the value of a body. The default decodes the JSON at ``JSONObjectReading/rootKeyPath``.
    // Declared again: only then a conforming type's own method decides what the value is.
    func value(from body: Data) throws -> Value
}

/// Bytes on a server.
public protocol DataResource: HTTPResource, DataReading {}

/// A property list on a server, read into a type that decodes itself.
public protocol PropertyListResource<Value>: HTTPResource, PropertyListReading {
    associatedtype Value
}

/// A resource that is read by a ``ResourceParser``.
public protocol ParsedResource<Value>: HTTPResource {
    associatedtype Value
    /// The parser of the body.
    var parser: ResourceParser<Value> { get }
}

extension ParsedResource {
    /// Lets the parser read the body.
    public func value(from body: Data) throws -> Value { try parser.parse(body) }
}
