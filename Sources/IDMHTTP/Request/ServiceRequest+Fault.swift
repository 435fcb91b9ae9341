extension ServiceRequest {
    /// Why a request can't be sent. Nothing of it has reached the network.
    ///
    /// No case holds the value of a header, of a query item or of a body: they may be secret.
    public enum Fault: Error, Sendable, Hashable {
        /// This is no name of a method that can be sent.
        case method(String)
        /// The path of the request isn't one.
        case path(template: String, PathFault)
        /// The path names a parameter that isn't there.
        case missingParameter(String, template: String)
        /// Parameters are there that the path doesn't name.
        case unusedParameters([String], template: String)
        /// A parameter would leave its place in the path: it is empty, or makes the segment `.` or `..`.
        case parameter(String, template: String, ParameterFault)
        /// The base URL can't be one.
        case baseURL(BaseURLFault)
        /// The link can't be one.
        case link(BaseURLFault)
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

    /// The faults of a path.
    public enum PathFault: Sendable, Hashable {
        /// A `{` without a `}`, or a `}` without a `{`.
        case unbalancedBrace
        /// The text between braces, or after a colon, isn't a name: letters, digits and `_`, without a digit at its
        /// start.
        case parameterName(String)
        /// A `?` or a `#`: what follows belongs in ``ServiceRequest/query``.
        case queryOrFragment
        /// A `%` that isn't followed by two hexadecimal digits.
        case escape
        /// A control character.
        case controlCharacter
        /// A segment `.` or `..`.
        case dotSegment
        /// Two slashes behind one another at the start, or a scheme: this is a URL and not a path.
        case notAPath
    }

    /// The faults of the value of a path parameter.
    public enum ParameterFault: Sendable, Hashable {
        /// It is empty, so that another path would be asked for.
        case empty
        /// It makes its segment a `.` or a `..`.
        case dotSegment
    }

    /// The faults of a base URL.
    public enum BaseURLFault: Sendable, Hashable {
        /// It isn't a URL, or has no host.
        case malformed
        /// Its scheme is neither http nor https.
        case scheme(String)
        /// It holds a user or a password. Credentials belong in an authenticator, or in a header.
        case userInfo
        /// It has a fragment, which is never sent.
        case fragment
        /// Its path has a segment `.` or `..`.
        case dotSegment
    }
}

extension ServiceRequest.Fault: CustomStringConvertible {
    /// The fault in one sentence.
    public var description: String {
        switch self {
        case .method(let name): "“\(name)” is no method that can be sent."
        case .path(let template, let fault): "The path “\(template)” \(fault)."
        case .missingParameter(let name, let template):
            "The path “\(template)” names the parameter “\(name)”, which isn't there."
        case .unusedParameters(let names, let template):
            "The path “\(template)” doesn't name \(names.map { "“\($0)”" }.joined(separator: ", "))."
        case .parameter(let name, let template, let fault): "The parameter “\(name)” of “\(template)” \(fault)."
        case .baseURL(let fault): "The base URL \(fault)."
        case .link(let fault): "The link \(fault)."
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

extension ServiceRequest.PathFault: CustomStringConvertible {
    /// The end of a sentence that begins with the path.
    public var description: String {
        switch self {
        case .unbalancedBrace: "has a brace without its partner"
        case .parameterName(let name): "has a parameter “\(name)”, which is no name"
        case .queryOrFragment: "holds a ? or a #, and what follows belongs in the query"
        case .escape: "holds a % without two hexadecimal digits"
        case .controlCharacter: "holds a control character"
        case .dotSegment: "has a segment “.” or “..”"
        case .notAPath: "is a URL and not a path"
        }
    }
}

extension ServiceRequest.ParameterFault: CustomStringConvertible {
    /// The end of a sentence that begins with the parameter.
    public var description: String {
        switch self {
        case .empty: "is empty"
        case .dotSegment: "makes its segment “.” or “..”"
        }
    }
}

extension ServiceRequest.BaseURLFault: CustomStringConvertible {
    /// The end of a sentence that begins with the base URL.
    public var description: String {
        switch self {
        case .malformed: "has no host, or isn't a URL"
        case .scheme(let scheme): "has the scheme “\(scheme)”, which is neither http nor https"
        case .userInfo: "holds a user or a password"
        case .fragment: "has a fragment"
        case .dotSegment: "has a segment “.” or “..” in its path"
        }
    }
}
