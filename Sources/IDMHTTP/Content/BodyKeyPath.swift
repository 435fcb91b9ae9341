internal import Foundation

/// A path in a tree of values: `data.items.0`. A number is an index of an array or a name in an object; `\.` is a dot
/// in a name.
struct BodyKeyPath: Sendable, Equatable {
    let names: [String]

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

protocol KeyPathDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at keyPath: String?) throws -> Value
}

extension JSONDecoder: KeyPathDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at keyPath: String?) throws -> Value {
        let path = BodyKeyPath(keyPath)
        // The mark that some servers put before UTF-8. Decoders differ in whether they take it.
        let data = data.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(data.dropFirst(3)) : data
        guard !path.names.isEmpty else { return try decode(type, from: data) }
        return try decode(Part<Value>.self, from: data, configuration: steps(of: path)).value
    }

    private func steps(of path: BodyKeyPath) throws -> [KeyPathStep] {
        if case .useDefaultKeys = keyDecodingStrategy { return path.steps }
        // Only the decoder itself knows, so it is given an object that has nothing but these names.
        let example = path.names.reversed().reduce(ServiceJSON.null) { .object([$1: $0]) }
        let converted = try decode(ExampleNames.self, from: JSONEncoder().encode(example)).names
        return zip(path.names, converted).map { KeyPathStep(name: $0, converted: $1) }
    }
}

extension PropertyListDecoder: KeyPathDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at keyPath: String?) throws -> Value {
        let path = BodyKeyPath(keyPath)
        guard !path.names.isEmpty else { return try decode(type, from: data) }
        return try decode(Part<Value>.self, from: data, configuration: path.steps).value
    }
}

/// A name of a key path, and the key that the decoder makes of it.
private struct KeyPathStep {
    let name: String
    let converted: String
}

extension BodyKeyPath {
    fileprivate var steps: [KeyPathStep] { names.map { KeyPathStep(name: $0, converted: $0) } }
}

/// The names in objects that hold one another, from the outside in.
private struct ExampleNames: Decodable {
    let names: [String]

    init(from decoder: any Decoder) throws {
        var names: [String] = []
        var decoder = decoder
        while let object = try? decoder.container(keyedBy: AnyKey.self), let key = object.allKeys.first {
            names.append(key.stringValue)
            decoder = try object.superDecoder(forKey: key)
        }
        self.names = names
    }
}

private struct Part<Value: Decodable>: DecodableWithConfiguration {
    let value: Value

    init(from decoder: any Decoder, configuration steps: [KeyPathStep]) throws {
        value = try Self.value(in: decoder, at: steps[...])
    }

    private static func value(in decoder: any Decoder, at steps: ArraySlice<KeyPathStep>) throws -> Value {
        guard let step = steps.first else { return try Value(from: decoder) }
        let rest = steps.dropFirst()
        if let index = Int(step.name), var array = try? decoder.unkeyedContainer() {
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
        let keys = [step.name, step.converted].map(AnyKey.init(stringValue:))
        let key = keys.first(where: object.contains) ?? keys[0]
        // Decoded by the container, so that what a decoder does for certain types (dates, data, URLs) is done here too.
        guard !rest.isEmpty else { return try object.decode(Value.self, forKey: key) }
        guard object.contains(key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: object.codingPath, debugDescription: "there is no such key"))
        }
        return try value(in: object.superDecoder(forKey: key), at: rest)
    }
}

struct AnyKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    init(stringLiteral value: String) {
        self.init(stringValue: value)
    }
}
