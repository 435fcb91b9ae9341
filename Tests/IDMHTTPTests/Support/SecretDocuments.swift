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
        return switch count(0...6) {
        case 0: "page=1&user%5B\(name())%5D=\(secret())&q=x"
        case 1: "page=1&name=\(name())&value=\(secret())&q=x"
        case 2: "HTTP/1.1 200 OK\r\nDate: x\r\n\(name()): \(secret()); b=\"\(secret())\"\r\nServer: y\r\n\r\n"
        case 3: multipart()
        case 4: "id,\"\(name())\",note\n1,\(secret()),x\n2,\"\(secret())\",\"y\"\n"
        case 5: "<?xml version=\"1.0\"?>\n\(element(depth))\n"
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
            "\"\(pick("name", "key", "header"))\":\(space())\"\(name)\"",
            "\"\(pick("value", "stringValue"))\":\(space())\"\(secret)\"",
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

    // MARK: Pieces

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
