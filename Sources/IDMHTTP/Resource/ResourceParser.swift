public import Foundation

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
