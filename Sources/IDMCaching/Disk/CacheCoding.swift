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
