internal import Foundation

/// What is never written to a disk: what is commonly secret, and what the service calls so.
struct UnkeptSecrets: Sendable {
    let own: ServiceRedaction

    func isSecret(_ name: String) -> Bool {
        ServiceRedaction.standard.isSecret(name) || own.isSecret(name)
    }

    func isSecret(_ field: ServiceHeaders.Field) -> Bool {
        ServiceRedaction.standard.isSecret(field) || own.isSecret(field)
    }

    /// Whether an address holds nothing that is secret.
    func isOpen(_ link: URL) -> Bool {
        let text = link.absoluteString
        return [ServiceRedaction.standard, own].allSatisfy { $0.url(text) == text }
    }
}
