/// What a service goes by: its type.
struct ServiceKey: Sendable, Hashable {
    private let type: any Any.Type

    init<Service: Sendable>(_ type: Service.Type) {
        self.type = type
    }

    /// What the type is called, with all that it stands in: there may be many of the same last name.
    var name: String {
        String(reflecting: type).replacing(/\(unknown context at \$[0-9a-f]+\)\./, with: "")
    }

    static func == (one: ServiceKey, other: ServiceKey) -> Bool {
        ObjectIdentifier(one.type) == ObjectIdentifier(other.type)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type))
    }
}
