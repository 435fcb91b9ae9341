extension ServiceRedaction {
    /// Whether a field says what stands in another one beside it: `{"name": "token", "value": "…"}`.
    static func isLabel(_ name: String) -> Bool {
        isName(name) || ["loc", "param", "path", "property"].contains(folded(name))
    }

    /// Whether a label says a name. Others say a place, and a name may stand beside that.
    static func isName(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("name") || folded.hasSuffix("key") || ["field", "header"].contains(folded)
    }

    /// Whether a field holds what another one beside it names.
    static func isContent(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("value") || folded.hasSuffix("values")
            || ["content", "input", "rejected"].contains(folded)
    }

    /// Whether what stands under a name in an object is secret, by this name or by what is said beside it.
    func isSecret(_ name: String, in object: [String: Any]) -> Bool {
        isSecret(name) || Self.isContent(name) && object.contains { Self.isLabel($0.key) && saysSecret($0.value) }
    }

    /// Whether a label says a secret name, perhaps as one of those on the way to something: `["body", "password"]`.
    private func saysSecret(_ label: Any) -> Bool {
        (label as? [Any] ?? [label]).contains { ($0 as? String).map(isSecret) == true }
    }

    /// Whether one of some items says that what another one holds is secret: `name=token&value=…`.
    func isSecretPair(_ items: [ServiceRequest.Query.Item]) -> Bool {
        self != .none && items.contains { Self.isLabel($0.name) && $0.content.values.contains(where: isSecret) }
    }
}
