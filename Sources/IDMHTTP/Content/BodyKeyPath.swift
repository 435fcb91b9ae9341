internal import Foundation

/// A way into a tree of values: `data.items.0`. A number is a place in an array, or a name in an object; `\.` is a dot
/// inside of a name.
struct BodyKeyPath: Sendable, Equatable {
    let names: [String]

    /// Reads a path. Nil or an empty one is the root.
    init(_ text: String?) {
        var names = [""]
        var isEscaped = false
        // Scalar by scalar: a dot is one also before a mark that is drawn on top of it.
        for scalar in (text ?? "").unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped: isEscaped = true
            case "." where !isEscaped: names.append("")
            default:
                // Nothing but a dot and a backslash needs to be escaped.
                if isEscaped, scalar != ".", scalar != "\\" { names[names.count - 1] += "\\" }
                names[names.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            }
        }
        if isEscaped { names[names.count - 1] += "\\" }
        self.names = text?.isEmpty == false ? names : []
    }
}

extension JSONDecoder {
    /// Decodes what stands at a key path.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at keyPath: String?) throws -> Value {
        let path = BodyKeyPath(keyPath)
        // The mark that some servers put before UTF-8. Decoders differ in whether they take it.
        let data = data.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(data.dropFirst(3)) : data
        guard !path.names.isEmpty else { return try decode(type, from: data) }
        return try decode(Part<Value>.self, from: data, configuration: path).value
    }
}

extension PropertyListDecoder {
    /// Decodes what stands at a key path.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at keyPath: String?) throws -> Value {
        let path = BodyKeyPath(keyPath)
        guard !path.names.isEmpty else { return try decode(type, from: data) }
        return try decode(Part<Value>.self, from: data, configuration: path).value
    }
}

/// A value that stands somewhere below the root.
private struct Part<Value: Decodable>: DecodableWithConfiguration {
    let value: Value

    init(from decoder: any Decoder, configuration path: BodyKeyPath) throws {
        value = try Self.value(in: decoder, at: path.names[...])
    }

    private static func value(in decoder: any Decoder, at names: ArraySlice<String>) throws -> Value {
        guard let name = names.first else { return try Value(from: decoder) }
        let rest = names.dropFirst()
        if let index = Int(name), var array = try? decoder.unkeyedContainer() {
            while array.currentIndex < index, !array.isAtEnd { _ = try array.superDecoder() }
            guard index >= 0, !array.isAtEnd else {
                throw DecodingError.keyNotFound(
                    AnyKey(intValue: index),
                    .init(codingPath: array.codingPath, debugDescription: "there are \(array.currentIndex) elements"))
            }
            guard !rest.isEmpty else { return try array.decode(Value.self) }
            return try value(in: array.superDecoder(), at: rest)
        }
        let object = try decoder.container(keyedBy: AnyKey.self)
        let key = AnyKey(stringValue: name)
        // Decoded by the container, so that what a decoder does for certain types (dates, data, URLs) is done here too.
        guard !rest.isEmpty else { return try object.decode(Value.self, forKey: key) }
        guard object.contains(key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: object.codingPath, debugDescription: "there is no such key"))
        }
        return try value(in: object.superDecoder(forKey: key), at: rest)
    }
}
