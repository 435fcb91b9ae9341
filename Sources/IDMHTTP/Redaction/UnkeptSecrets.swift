/// The secrets that are never written to a disk: those of the standard redaction and of the service's own.
struct UnkeptSecrets: Sendable {
    private let redactions: [ServiceRedaction]

    init(own: ServiceRedaction) { redactions = own == .standard ? [own] : [.standard, own] }

    func isSecret(_ name: String, _ value: String) -> Bool {
        redactions.contains { $0.isSecretParameter(name, value) }
    }

    func isSecret(_ field: ServiceHeaders.Field) -> Bool {
        redactions.contains { $0.value(of: field) != field.value }
    }

    func open(_ query: ServiceRequest.Query) -> [ServiceRequest.Query.Item] {
        let secrets = redactions.map { query.secrets(by: $0) }
        return query.items.filter { item in
            !item.content.values.contains { value in secrets.contains { isSecret in isSecret(item, value) } }
        }
    }

    func isOpen(_ address: String) -> Bool { !redactions.contains { $0.url(address) != address } }

    func isBoundToOrigin(_ field: ServiceHeaders.Field) -> Bool { redactions.contains { $0.isBoundToOrigin(field) } }
}
