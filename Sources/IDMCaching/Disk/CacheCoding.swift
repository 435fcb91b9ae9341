public import Foundation

/// How values become bytes on a disk, and values again. Both are called on the cache's own threads.
public struct CacheCoding<Value: Sendable>: Sendable {
    let encode: @Sendable (Value) throws -> Data
    let decode: @Sendable (Data) throws -> Value

    /// Makes a coding of your own.
    ///
    /// - Parameters:
    ///   - encode: Makes bytes of a value. What it throws fails the write.
    ///   - decode: Makes a value of bytes. Where it throws, the entry counts as damaged.
    public init(encode: @escaping @Sendable (Value) throws -> Data, decode: @escaping @Sendable (Data) throws -> Value)
    {
        self.encode = encode
        self.decode = decode
    }
}

extension CacheCoding where Value: Codable {
    /// As JSON.
    public static var json: Self {
        CacheCoding(
            encode: { try JSONEncoder().encode($0) },
            decode: { try JSONDecoder().decode(Value.self, from: $0) })
    }

    /// As a binary property list.
    public static var propertyList: Self {
        CacheCoding(
            encode: { value in
                let encoder = PropertyListEncoder()
                encoder.outputFormat = .binary
                // The root of a property list is an array or a dictionary.
                return try encoder.encode([value])
            },
            decode: { data in
                guard let value = try PropertyListDecoder().decode([Value].self, from: data).first else {
                    throw CocoaError(.coderReadCorrupt)
                }
                return value
            })
    }
}

extension CacheCoding where Value == Data {
    /// As they are.
    public static var bytes: Self {
        CacheCoding(encode: { $0 }, decode: { $0 })
    }
}

/// What can't be encoded, without a word of what it is: a value may be anybody's secret, and errors end up in logs.
func unencodable(_ error: any Error, in type: Any.Type) -> String {
    guard case EncodingError.invalidValue(let value, let context) = error else {
        return "\(type): \(Swift.type(of: error))"
    }
    let path = context.codingPath.map { key in
        if let index = key.intValue { return "[\(index)]" }
        // The keys of a type are cases that somebody has written down. Those of a dictionary are data.
        return Mirror(reflecting: key).displayStyle == .enum ? "." + key.stringValue : ".…"
    }
    return "\(type)\(path.joined()), which is \(Swift.type(of: value))"
}
