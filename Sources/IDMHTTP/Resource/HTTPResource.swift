/// What a server has, with how to read it: a request, and a value made of the response.
///
/// Where a thing is and how it is read are two protocols, so that the same reading serves a server and a file: conform
/// to ``DecodableResource`` or one of its like for both at once, or to this and to any ``ResourceReading``.
public protocol HTTPResource<Value>: ResourceReading {
    /// Where the resource is.
    var request: ServiceRequest { get }
    /// What decides whether a response is a success, before the service's own rules. None unless you say so.
    var rules: [ResponseRule] { get }
}

extension HTTPResource {
    /// None.
    public var rules: [ResponseRule] { [] }
}
