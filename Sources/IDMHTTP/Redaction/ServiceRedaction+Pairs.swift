extension ServiceRedaction {
    /// Returns true if a field names the content of another field beside it: `{"name": "token", "value": "…"}`.
    static func isLabel(_ name: String) -> Bool {
        isName(name) || ["loc", "param", "path", "property"].contains(folded(name))
    }

    /// Returns true if a label is a name. Other labels are places, and can stand beside a name.
    static func isName(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("name") || folded.hasSuffix("key") || ["field", "header"].contains(folded)
    }

    /// Returns true if a field contains the value that another field names.
    static func isContent(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("value") || folded.hasSuffix("values")
            || ["content", "input", "rejected"].contains(folded)
    }

    /// Returns true if a value in an object is secret, by its own name or by a label beside it.
    func isSecret(_ name: String, in object: [String: Any]) -> Bool {
        isSecret(name) || Self.isContent(name) && object.contains { Self.isLabel($0.key) && saysSecret($0.value) }
    }

    /// Returns true if a label is a secret name, or a path with one: `["body", "password"]`.
    private func saysSecret(_ label: Any) -> Bool {
        (label as? [Any] ?? [label]).contains { ($0 as? String).map(isSecret) == true }
    }

    /// Returns true if one of some items names the secret that another item contains: `name=token&value=…`.
    func isSecretPair(_ items: [ServiceRequest.Query.Item]) -> Bool {
        self != .none && items.contains { Self.isLabel($0.name) && $0.content.values.contains(where: isSecret) }
    }
}
