internal import Foundation

/// What a service goes by: its type.
struct ServiceKey: Sendable, Hashable {
    private let type: any Any.Type

    init<Service: Sendable>(_ type: Service.Type) {
        self.type = type
    }

    /// What the type is called, with the types and the module that it stands in: there may be many of the same last
    /// name. In which file or function it is for itself, no name says.
    var name: String {
        var name = String(reflecting: type)
        while let start = name.range(of: "(unknown context at $"),
            let end = name.range(of: ").", range: start.upperBound..<name.endIndex)
        {
            name.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return name
    }

    static func == (one: ServiceKey, other: ServiceKey) -> Bool {
        ObjectIdentifier(one.type) == ObjectIdentifier(other.type)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type))
    }
}
