internal import Foundation

/// What is never written to a disk: what isn't shown, by what is commonly secret or by what the service calls so.
struct UnkeptSecrets: Sendable {
    private let redactions: [ServiceRedaction]

    init(own: ServiceRedaction) { redactions = [.standard, own] }

    /// Whether a parameter of a path holds a secret.
    func isSecret(_ name: String, _ value: String) -> Bool {
        redactions.contains { $0.isSecretParameter(name, value) }
    }

    /// Whether a header holds a secret.
    func isSecret(_ field: ServiceHeaders.Field) -> Bool {
        redactions.contains { $0.value(of: field) != field.value }
    }

    /// The items of a query that hold no secrets.
    func open(_ query: ServiceRequest.Query) -> [ServiceRequest.Query.Item] {
        let secrets = redactions.map { query.secrets(by: $0) }
        return query.items.filter { item in
            !item.content.values.contains { value in secrets.contains { isSecret in isSecret(item, value) } }
        }
    }

    /// Whether an address holds nothing that is secret.
    func isOpen(_ link: URL) -> Bool {
        !redactions.contains { $0.url(link.absoluteString) != link.absoluteString }
    }
}
