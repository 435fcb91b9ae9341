public import Foundation

/// Makes a value of one JSON object. Written once, it serves every envelope that such an object comes in.
///
/// ```swift
/// struct City {
///     let name: String
///     let size: Int
///
///     static let parser = ObjectParser { City(name: try $0["name"].require(\.string), size: $0["size"].int ?? 0) }
/// }
///
/// struct CitiesResource: ParsedResource {
///     var request: ServiceRequest { ServiceRequest(.get, "/cities") }
///     var parser: ResourceParser<[City]> { City.parser.list(at: "data.items", invalidElements: .skip) }
/// }
/// ```
public struct ObjectParser<Object: Sendable>: Sendable {
    private let make: @Sendable (ServiceJSON) throws -> Object

    /// Makes a parser.
    public init(_ make: @escaping @Sendable (ServiceJSON) throws -> Object) {
        self.make = make
    }

    /// Makes a value of one object.
    public func parse(_ object: ServiceJSON) throws -> Object {
        try make(object)
    }

    /// Reads one object at a key path of a body. Nil for the whole body.
    public func object(at keyPath: String? = nil) -> ResourceParser<Object> {
        ResourceParser { body in
            try ObjectParser.parse(try JSONDecoder().decode(ServiceJSON.self, from: body, at: keyPath), keyPath, make)
        }
    }

    /// Reads a list of objects at a key path of a body. Nil for the whole body.
    public func list(at keyPath: String? = nil, invalidElements: InvalidElementPolicy = .fail) -> ResourceParser<
        [Object]
    > {
        ResourceParser { body in
            let elements = try JSONDecoder().decode([ServiceJSON].self, from: body, at: keyPath)
            var objects: [Object] = []
            for (index, element) in elements.enumerated() {
                do {
                    let path = [keyPath, "\(index)"].compactMap(\.self).joined(separator: ".")
                    objects.append(try ObjectParser.parse(element, path, make))
                } catch  where invalidElements.skips {
                    invalidElements.report(error)
                }
            }
            return objects
        }
    }

    private static func parse(
        _ object: ServiceJSON, _ path: String?, _ make: (ServiceJSON) throws -> Object
    ) throws -> Object {
        do {
            return try make(object)
        } catch let error as HTTPError.DecodingFault {
            let path = [path ?? "", error.path].filter { !$0.isEmpty }.joined(separator: ".")
            throw HTTPError.DecodingFault(path: path, reason: error.reason)
        }
    }
}

extension ServiceJSON {
    /// Returns the value of a required kind: `try json["name"].require(\.string)`.
    ///
    /// Throws an ``HTTPError/DecodingFault`` if the value is missing or of another kind.
    public func require<Value>(_ kind: (ServiceJSON) -> Value?) throws(HTTPError.DecodingFault) -> Value {
        guard let value = kind(self) else {
            throw HTTPError.DecodingFault(path: "", reason: "there is no \(Value.self), but \(kindName)")
        }
        return value
    }

    private var kindName: String {
        switch self {
        case .null: "nothing"
        case .bool: "a truth value"
        case .integer, .number: "a number"
        case .string: "text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Makes a value of a body.
public struct ResourceParser<Value: Sendable>: Sendable {
    private let make: @Sendable (Data) throws -> Value

    /// Makes a parser.
    public init(_ make: @escaping @Sendable (Data) throws -> Value) {
        self.make = make
    }

    /// Makes the value.
    public func parse(_ body: Data) throws -> Value {
        try make(body)
    }
}
