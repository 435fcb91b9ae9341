extension ServiceRequest {
    /// Why a request can't be sent. Nothing of it has reached the network, unless a file of its body changed while it
    /// was sent.
    ///
    /// No case holds the value of a header, of a query item or of a body: they may be secret.
    public enum Fault: Error, Sendable, Hashable {
        /// This is no name of a method that can be sent.
        case method(String)
        /// The path of the request isn't one.
        case path(template: String, reason: String)
        /// The path names a parameter that isn't there.
        case missingParameter(String, template: String)
        /// Parameters are there that the path doesn't name.
        case unusedParameters([String], template: String)
        /// A parameter would leave its place in the path: it is empty, or makes the segment `.` or `..`.
        case parameter(String, template: String, reason: String)
        /// The base URL can't be one.
        case baseURL(reason: String)
        /// The link can't be one.
        case link(reason: String)
        /// The link leads to another origin than the service's.
        case foreignLink(String)
        /// This is no name of a header.
        case headerName(String)
        /// The value of a header holds a byte that has no place there, such as a line break.
        case headerValue(ServiceHeaders.Name, byte: UInt8, at: Int)
        /// A header that only the transport may set.
        case reservedHeader(ServiceHeaders.Name)
        /// A method that carries no body has one.
        case unexpectedBody(Method)
        /// The body can't be made.
        case body(RequestBody.Fault)
        /// A time-out or a deadline is zero or negative.
        case time(String)
    }
}

extension ServiceRequest.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .method(let name): "“\(name)” is no method that can be sent."
        case .path(let template, let reason): "The path “\(template)” \(reason)."
        case .missingParameter(let name, let template):
            "The path “\(template)” names the parameter “\(name)”, which isn't there."
        case .unusedParameters(let names, let template):
            "The path “\(template)” doesn't name \(names.map { "“\($0)”" }.joined(separator: ", "))."
        case .parameter(let name, let template, let reason): "The parameter “\(name)” of “\(template)” \(reason)."
        case .baseURL(let reason): "The base URL \(reason)."
        case .link(let reason): "The link \(reason)."
        case .foreignLink(let origin): "The link leads to another origin, \(origin)."
        case .headerName(let name): "“\(name)” is no name of a header."
        case .headerValue(let name, let byte, let place):
            "The value of the header \(name) holds the byte \(byte) at \(place), which has no place there."
        case .reservedHeader(let name): "The header \(name) is set by the transport alone."
        case .unexpectedBody(let method): "A \(method) request carries no body."
        case .body(let fault): "\(fault)"
        case .time(let name): "The \(name) has to be more than zero."
        }
    }
}
