/// A value on a server: a request, and the reading of its response.
///
/// Location and reading are two protocols, so that one reading serves servers and files: conform to
/// ``DecodableResource`` or a similar protocol for both, or to this one and to any ``ResourceReading``.
public protocol HTTPResource<Value>: ResourceReading {
    /// The request for the resource.
    var request: ServiceRequest { get }
    /// The rules that are applied before the service's own. None by default.
    var rules: [ResponseRule] { get }
}

extension HTTPResource {
    /// None.
    public var rules: [ResponseRule] { [] }
}
