public import Foundation

/// A value in a query or in a form: text, numbers, booleans, identifiers, arrays of them, and nil.
///
/// An enumeration of strings only has to declare the conformance.
public protocol ServiceQueryValue: Sendable {
    /// The value as a query holds it.
    var queryContent: ServiceRequest.Query.Content { get }
}

extension ServiceRequest.Query {
    /// The content of one name.
    public enum Content: Sendable, Hashable {
        /// No value: the name isn't sent.
        case none
        /// One value, which may be empty.
        case single(String)
        /// Several values, in an order. An empty list isn't sent.
        case list([String])

        var values: [String] {
            switch self {
            case .none: []
            case .single(let value): [value]
            case .list(let values): values
            }
        }
    }
}

extension ServiceQueryValue where Self: LosslessStringConvertible {
    /// The value as text.
    public var queryContent: ServiceRequest.Query.Content { .single(description) }
}

extension ServiceQueryValue where Self: RawRepresentable, RawValue: ServiceQueryValue {
    /// The raw value.
    public var queryContent: ServiceRequest.Query.Content { rawValue.queryContent }
}

extension String: ServiceQueryValue {}
extension Substring: ServiceQueryValue {}
extension Bool: ServiceQueryValue {}
extension Int: ServiceQueryValue {}
extension Int8: ServiceQueryValue {}
extension Int16: ServiceQueryValue {}
extension Int32: ServiceQueryValue {}
extension Int64: ServiceQueryValue {}
extension UInt: ServiceQueryValue {}
extension UInt8: ServiceQueryValue {}
extension UInt16: ServiceQueryValue {}
extension UInt32: ServiceQueryValue {}
extension UInt64: ServiceQueryValue {}
extension Double: ServiceQueryValue {}
extension Float: ServiceQueryValue {}

extension UUID: ServiceQueryValue {
    /// The identifier as text, in upper case.
    public var queryContent: ServiceRequest.Query.Content { .single(uuidString) }
}

extension Array: ServiceQueryValue where Element: ServiceQueryValue {
    /// The values of all elements. Elements that are nothing are left out.
    public var queryContent: ServiceRequest.Query.Content { .list(flatMap(\.queryContent.values)) }
}

extension Optional: ServiceQueryValue where Wrapped: ServiceQueryValue {
    /// The value, or nothing.
    public var queryContent: ServiceRequest.Query.Content { self?.queryContent ?? .none }
}
