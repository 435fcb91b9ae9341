public import Foundation
public import IDMCore

/// Why a request to a service has failed.
///
/// ```swift
/// do {
///     let response = try await service.request(request)
///     print(response.text)
/// } catch let error as HTTPError where error.status == 404 {
///     print("There is no such thing.")
/// }
/// ```
///
/// Its ``description`` may go into a log: it names the request and the reason, with secrets redacted. A request whose
/// own task is cancelled fails with `CancellationError`, and never with this.
public struct HTTPError: Error, Sendable {
    /// The reason of the failure.
    public let reason: Reason
    /// The request, as it may be shown.
    public let request: String
    /// The response, if one came that far.
    public let response: ServiceResponse?

    /// Makes an error.
    public init(_ reason: Reason, request: String, response: ServiceResponse? = nil) {
        self.reason = reason
        self.request = request
        self.response = response
    }

    /// The reasons of a failure.
    public enum Reason: Sendable {
        /// The request can't be sent as it stands. Nothing of it has reached the network, unless a file of its body
        /// changed while it was sent.
        case badRequest(ServiceRequest.Fault)
        /// The transport failed: no connection, a connection that broke, a certificate that isn't trusted.
        case transport(any Error)
        /// It took too long.
        case timedOut(TimeLimit)
        /// The transport cancelled the exchange without being asked to.
        case cancelled
        /// The server's status is a failure.
        case status(Int)
        /// A rule found a failure in the response: the API's own.
        case rejected(any Error)
        /// The body isn't what it was to be.
        case decoding(DecodingFault)
        /// The body has more bytes than are taken.
        case tooLarge(limit: Int)
        /// The header has more bytes than are taken.
        case headerTooLarge(limit: Int)
        /// The server sends the request to where it doesn't go.
        case redirect(RedirectPolicy.Fault)
    }

    /// Which time was over.
    public enum TimeLimit: Sendable, Hashable {
        /// No bytes were sent or received for this time.
        case idle(Duration)
        /// Everything together took so long.
        case total(Duration)
        /// The transport's own time was over.
        case transport
    }

    /// The fault of a body that can't be read.
    public struct DecodingFault: Error, Sendable, Hashable {
        /// The key path of the fault in the body: `data.items.3.name`. Empty for the whole body.
        public var path: String
        /// The fault at that path.
        public var reason: String
        /// The beginning of a body that is JSON or a form, with secrets redacted; of any other body its type and length.
        public var excerpt: String

        /// Makes a fault.
        public init(path: String, reason: String, excerpt: String = "") {
            self.path = path
            self.reason = reason
            self.excerpt = excerpt
        }
    }
}

extension HTTPError {
    /// The status of the response, if one came.
    public var status: Int? { response?.status }

    /// Returns the API's own failure, or an error inside it, if a rule found one of this type.
    public func failure<Failure: Error>(as type: Failure.Type = Failure.self) -> Failure? {
        if let error = self as? Failure { return error }
        return underlyingError?.failure(as: type)
    }
}

extension HTTPError: WrappingError {
    /// The API's own failure that a rule found. Nil for any other reason.
    public var underlyingError: (any Error)? {
        if case .rejected(let failure) = reason { failure } else { nil }
    }
}

extension HTTPError: LocalizedError {
    /// One sentence for the user of an app, without the request: the text of the API's own failure where a rule found
    /// one, and the ``Reason`` otherwise.
    public var errorDescription: String? {
        if case .rejected(let failure) = reason { failure.ownText.endingSentence } else { "\(reason)" }
    }
}

extension HTTPError: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(request): \(reason)" }

    /// The description alone, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HTTPError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .badRequest(let fault): "\(fault)"
        // What a stranger's error says isn't known to be free of secrets: an error of URLSession holds the whole URL.
        case .transport(let error): "The transport failed: \(error.safeName)".endingSentence
        case .timedOut(.idle(let duration)): "Nothing came or went for \(duration)."
        case .timedOut(.total(let duration)): "It was not done within \(duration)."
        case .timedOut(.transport): "The transport's own time was over."
        case .cancelled: "The transport gave the exchange up."
        case .status(let status): "The server answered with the status \(status)."
        case .rejected(let failure): "The response is a failure: \(failure.ownText)".endingSentence
        case .decoding(let fault): "\(fault)"
        case .tooLarge(let limit): "The body is larger than \(limit) bytes."
        case .headerTooLarge(let limit): "The header is larger than \(limit) bytes."
        case .redirect(let fault): "The redirect \(fault)."
        }
    }
}

extension HTTPError.DecodingFault: CustomStringConvertible {
    public var description: String {
        // What a server calls its keys may be anything.
        let place = path.isEmpty ? "" : " at \(path.escapedForDescription(limit: 200))"
        return
            "\("The body can't be read\(place): \(reason)".endingSentence)\(excerpt.isEmpty ? "" : " It begins: \(excerpt)")"
    }
}
