/// JSON of any shape.
///
/// ```swift
/// let name = json["user"]["names"][0].string
/// ```
///
/// A missing value is `.null`. Whole numbers that fit into an `Int` are ``integer(_:)``, others ``number(_:)``. The last
/// of equal names in an object counts.
public enum ServiceJSON: Sendable, Hashable {
    /// The value `null`.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction, or too great for an integer.
    case number(Double)
    /// Text.
    case string(String)
    /// Values in an order.
    case array([ServiceJSON])
    /// Values under names.
    case object([String: ServiceJSON])

    /// The value of a key. `.null` for a missing key and for a value that isn't an object.
    public subscript(_ name: String) -> ServiceJSON { object?[name] ?? .null }

    /// The element at an index. `.null` for a missing element and for a value that isn't an array.
    public subscript(_ index: Int) -> ServiceJSON {
        guard let array, array.indices.contains(index) else { return .null }
        return array[index]
    }

    /// True for `.null`.
    public var isNull: Bool { self == .null }
    /// True or false, if it is one of them.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number, if it is a whole one.
    public var int: Int? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }
    /// The number, if it is one.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
    /// The text, if it is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The values, if they stand in an order.
    public var array: [ServiceJSON]? { if case .array(let value) = self { value } else { nil } }
    /// The values, if they stand under names.
    public var object: [String: ServiceJSON]? { if case .object(let value) = self { value } else { nil } }
}

extension ServiceJSON: Codable {
    /// Reads whatever comes.
    public init(from decoder: any Decoder) throws {
        // The most frequent kinds are tried first.
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(
                try Dictionary(
                    object.allKeys.map { ($0.stringValue, try object.decode(ServiceJSON.self, forKey: $0)) },
                    uniquingKeysWith: { $1 }))
            return
        }
        if var array = try? decoder.unkeyedContainer() {
            var values: [ServiceJSON] = []
            while !array.isAtEnd { values.append(try array.decode(ServiceJSON.self)) }
            self = .array(values)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .bool(try container.decode(Bool.self))
        }
    }

    /// Writes it as it is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
