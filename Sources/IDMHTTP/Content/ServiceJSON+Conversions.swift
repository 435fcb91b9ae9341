internal import Foundation

extension ServiceJSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes `.null`.
    public init(nilLiteral: ()) { self = .null }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Values in an order.
    public init(arrayLiteral elements: ServiceJSON...) { self = .array(elements) }
    /// Values under names. Of a name that stands there twice the last value counts.
    public init(dictionaryLiteral elements: (String, ServiceJSON)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension ServiceJSON {
    /// Converts an object of `JSONSerialization`: `[String: Any]`, `[Any]`, text, numbers, Booleans and `NSNull`. Throws
    /// with the key path of the first value of another type.
    public init(jsonObject: Any) throws(HTTPError.DecodingFault) {
        self = try Self.converted(jsonObject, at: [])
    }

    /// The value as an object of `JSONSerialization`.
    public var jsonObject: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .integer(let value): value
        case .number(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.jsonObject)
        case .object(let values): values.mapValues(\.jsonObject)
        }
    }

    private static func converted(_ value: Any, at path: [String]) throws(HTTPError.DecodingFault) -> ServiceJSON {
        switch value {
        case let value as ServiceJSON: return value
        case is NSNull: return .null
        case let object as [String: Any]:
            var values: [String: ServiceJSON] = [:]
            for (name, value) in object { values[name] = try converted(value, at: path + [name]) }
            return .object(values)
        case let array as [Any]:
            var values: [ServiceJSON] = []
            for (index, value) in array.enumerated() { values.append(try converted(value, at: path + ["\(index)"])) }
            return .array(values)
        case let value as String: return .string(value)
        // A number of Foundation is true or false only if it was made of one: 1 is no Bool.
        case let value as NSNumber where !(value is Bool && String(cString: value.objCType) == "c"):
            return value.isWhole ? .integer(value.intValue) : .number(value.doubleValue)
        case let value as Bool: return .bool(value)
        case let value as any BinaryInteger: return Int(exactly: value).map { .integer($0) } ?? .number(Double(value))
        case let value as any BinaryFloatingPoint: return .number(Double(value))
        default:
            throw HTTPError.DecodingFault(
                path: path.joined(separator: "."), reason: "a \(type(of: value)) isn't JSON")
        }
    }
}

extension NSNumber {
    fileprivate var isWhole: Bool {
        !["f", "d"].contains(String(cString: objCType)) && NSNumber(value: intValue) == self
    }
}
