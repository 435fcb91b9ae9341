import IDMTesting

/// Bodies that somebody has made up, each with a secret under a secret name.
struct SecretDocuments {
    /// What the secrets are made of, and nothing else is.
    static let sign: Unicode.Scalar = "Z"

    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    /// The next body, of any kind.
    mutating func next() -> String {
        let depth = count(0...3)
        return switch count(0...14) {
        case 0: "page=1&user%5B\(name())%5D=\(secret())&q=x"
        case 1: "page=1&name=\(name())&value=\(secret())&q=x"
        case 2: "HTTP/1.1 200 OK\r\nDate: x\r\n\(name()): \(secret()); b=\"\(secret())\"\r\nServer: y\r\n\r\n"
        case 3: multipart()
        case 4: "id,\"\(name())\",note\n1,\(secret()),x\n2,\"\(secret())\",\"y\"\n"
        case 5: "<?xml version=\"1.0\"?>\n\(element(depth))\n"
        case 6: yaml(depth)
        case 7: "{\"\(name())\"\(space())=>\(space())\"\(secret())\", :a => 1, :\(name()) => '\(secret())'}"
        case 8: "{'a': \(pick("b", "rb", "u"))'x', '\(name())': \(pick("b", "Rb", "u"))'\(secret())', 'b': ('c', 1)}"
        case 9: "data=\(escaped(value(depth)) { "%" + hex($0, 2) })&b=1"
        case 10: "<p a='b'>\(escaped(value(depth)) { entities[$0] ?? String($0) })</p>"
        case 11: "{\"a\":\"\(escaped(value(depth)) { "\\u" + hex($0, 4) })\"}"
        default: value(depth)
        }
    }

    // MARK: JSON

    /// An object or a list that holds a secret, so deep.
    private mutating func value(_ depth: Int) -> String {
        guard depth > 0 else { return secretValue() }
        var items = plainItems()
        if Bool.random(using: &random) {
            items.insert(value(depth - 1), at: count(0...items.count))
            return "[\(items.joined(separator: separator()))]"
        }
        var fields = items.enumerated().map { "\"a\($0.offset)\":\(space())\($0.element)" }
        fields.insert("\"data\":\(space())\(value(depth - 1))", at: count(0...fields.count))
        return "{\(fields.joined(separator: separator()))}"
    }

    private mutating func secretValue() -> String {
        let (name, secret) = (name(), secret())
        let pair = [
            pick(
                "\"\(pick("name", "key", "header", "path"))\":\(space())\"\(name)\"",
                "\"loc\":\(space())[\"body\"\(separator())\"\(name)\"]"),
            "\"\(pick("value", "stringValue", "input", "rejected"))\":\(space())\"\(secret)\"",
        ].shuffled(using: &random).joined(separator: separator())
        return switch count(0...7) {
        case 0: "{\"\(name)\":\(space())\"\(secret)\"}"
        case 1: "{\"\(name)\":\(space())[\"\(secret)\"\(separator())\"\(secret)\"]}"
        case 2: "{\"\(name)\":\(space()){\"a\"\(space()):\"\(secret)\"}}"
        case 3: "{\(pair)}"
        case 4: "{\"id\":7\(separator())\(pair)\(separator())\"b\":\"}\"}"
        case 5: "[\"\(name)\"\(separator())\"\(secret)\"]"
        case 6: quoted("{\(pair)}")
        default: quoted(element(1))
        }
    }

    /// Values that are no secret, and hard to read.
    private mutating func plainItems() -> [String] {
        let all = [
            "7", "null", "\"}\"", "\"it's {\"", "\"5\\\" <\"", "\"a: b, c=d\"", "[]", "{\"name\":\"x\"}",
            "\"<b>c</b>\"",
        ]
        return (0..<count(0...3)).map { _ in all.randomElement(using: &random) ?? "" }
    }

    // MARK: Others

    private mutating func element(_ depth: Int) -> String {
        let (name, secret) = (name(), secret())
        guard depth == 0 else {
            return "<a b='\(pick("c", "d>e"))'>\(space())<i>x</i>\(element(depth - 1))\(space())</a>"
        }
        return switch count(0...6) {
        case 0: "<\(name)>\(secret)</\(name)>"
        case 1: "<x:\(name) a=\"b\">\(secret)</x:\(name)>"
        case 2: "<a \(name)=\"\(secret)\"/>"
        case 3: "<key>\(name)</key>\(space())<string>\(secret)</string>"
        case 4: "<param name=\"\(name)\" value=\"\(secret)\"/>"
        case 5: "<input value='\(secret)' name='\(name)'>"
        default: "<param name=\"\(name)\">\(secret)</param>"
        }
    }

    private mutating func multipart() -> String {
        let (end, plain) = (pick("\r\n", "\n"), "Content-Disposition: form-data; name=\"q\"")
        let hidden = "Content-Disposition: form-data; name=\"\(name())\"\(pick("", "; filename=\"x\""))"
        return [
            "--b", plain, "", "x", "--b", hidden, "Content-Type: text/plain", "", secret(), "", "--\(secret())", "--b",
            plain, "", "y", "--b--", "",
        ].joined(separator: end)
    }

    /// Fields of which one is secret, so deep.
    private mutating func yaml(_ depth: Int) -> String {
        let indent = String(repeating: "  ", count: depth)
        let parents = (0..<depth).map { String(repeating: "  ", count: $0) + "a:\n" }.joined()
        let field = "\(pick("", "- "))\(name())"
        let value =
            switch count(0...4) {
            case 0: " \(secret()), \(secret())"
            case 1: " |\n\(indent)    \(secret())\n\n\(indent)    - \(secret())"
            case 2: " >-\n\(indent)    \(secret())\n\(indent)    \(secret())"
            case 3: "\n\(indent)    - \(secret())\n\(indent)    - \(secret())"
            default: " \"\(secret())\n\(indent)    \(secret())\""
            }
        return "\(parents)\(indent)b: c\n\(indent)\(field):\(value)\n\(indent)d: e\n"
    }

    // MARK: Pieces

    /// A text in another one, with its signs escaped.
    private func escaped(_ text: String, _ sign: (Unicode.Scalar) -> String) -> String {
        text.unicodeScalars
            .map {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "\n" ? String($0) : sign($0)
            }
            .joined()
    }

    private func hex(_ sign: Unicode.Scalar, _ count: Int) -> String {
        let digits = String(sign.value, radix: 16)
        return String(repeating: "0", count: count - digits.count) + digits
    }

    private let entities: [Unicode.Scalar: String] = ["\"": "&quot;", "'": "&#39;", "<": "&lt;", ">": "&gt;"]

    /// A text as a string of JSON.
    private func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n"))\""
    }

    private mutating func name() -> String {
        pick("token", "Password", "api_key", "session-id", "client_secret", "Authorization", "pin")
    }

    private mutating func secret() -> String { String(repeating: "Z", count: count(1...9)) }
    private mutating func space() -> String { pick("", "", " ", "\n  ") }
    private mutating func separator() -> String { "," + space() }
    private mutating func count(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func pick(_ values: String...) -> String { values.randomElement(using: &random) ?? "" }
}
