extension ServiceRedaction {
    /// Whether a field says what stands in another one beside it: `{"name": "token", "value": "…"}`.
    static func isLabel(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("name") || folded.hasSuffix("key") || ["field", "header"].contains(folded)
    }

    /// Whether a field holds what another one beside it names.
    static func isContent(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("value") || folded.hasSuffix("values") || folded == "content"
    }

    /// Whether what stands under a name in an object is secret, by this name or by what is said beside it.
    func isSecret(_ name: String, in object: [String: Any]) -> Bool {
        isSecret(name)
            || Self.isContent(name)
                && object.contains { Self.isLabel($0.key) && ($0.value as? String).map(isSecret) == true }
    }

    /// Whether one of some items says that what another one holds is secret: `name=token&value=…`.
    func isSecretPair(_ items: [ServiceRequest.Query.Item]) -> Bool {
        self != .none && items.contains { Self.isLabel($0.name) && $0.content.values.contains(where: isSecret) }
    }
}
