public import Foundation
public import IDMCore

/// An API's way of authentication: adds a credential to a request, and refreshes a credential that the server rejects.
///
/// ```swift
/// let authenticator = BearerAuthenticator<Tokens>(token: \.access) { old, next in
///     let response = try await next(ServiceRequest(.post, "/token", body: .form(["refresh_token": old.refresh])))
///     return try JSONDecoder().decode(Tokens.self, from: response.body)
/// }
/// ```
///
/// An ``AuthenticationInterceptor`` stores the credentials.
public protocol Authenticator<Credential>: Sendable {
    /// The credential of a user.
    associatedtype Credential: Sendable

    /// Supplies a request with a credential. Throws if the credential can't be one, as an empty token can't.
    ///
    /// Each field of the header and each item of the query that is added or changed is a secret from then on: it is
    /// never shown, and the header isn't taken along to another origin. What is put anywhere else isn't known to be
    /// one.
    func authorize(_ request: inout ServiceRequest, with credential: Credential) throws

    /// Returns the time at which a credential expires. Nil, the default, if it isn't known.
    ///
    /// Shortly before that time the credential is refreshed, so that no request has to be rejected first.
    func expiry(of credential: Credential) -> Date?

    /// Returns true for a failure that means that the server rejected the credential: by default, the status 401.
    func isRejection(_ error: HTTPError) -> Bool

    /// Gets a new credential in place of one that was rejected.
    ///
    /// It is called once for all requests that were rejected with the same credential, away from their actors. Their
    /// being cancelled doesn't stop it: a server may have replaced the old credential by then.
    ///
    /// - Parameters:
    ///   - credential: The credential that was rejected.
    ///   - next: What stands behind the interceptor. Requests made of it, and those that are made of the service itself
    ///     inside of this call, are sent without a credential and never wait for this one.
    func refresh(_ credential: Credential, next: InterceptorChain) async throws -> Credential
}

extension Authenticator {
    /// Nil.
    public func expiry(of credential: Credential) -> Date? { nil }

    /// The status 401.
    public func isRejection(_ error: HTTPError) -> Bool { error.status == 401 }
}

/// Why a request of a user isn't made, or isn't answered.
public enum AuthenticationError: Error, Sendable {
    /// The user has changed since the request was made: by a logout, or by the login of another user.
    case userHasChanged
    /// A credential is empty, or holds what no header can.
    case unusableCredential
    /// The refresh brought no new credential. Every request that waited for it fails with this error.
    case refreshFailed(any Error)
    /// The authenticator can't refresh its credentials.
    case notRefreshable
}

extension AuthenticationError: WrappingError {
    /// The error of the refresh. Nil for any other error.
    public var underlyingError: (any Error)? {
        if case .refreshFailed(let error) = self { error } else { nil }
    }
}

extension AuthenticationError: LocalizedError {
    /// A sentence for the user of an app.
    public var errorDescription: String? {
        switch self {
        case .userHasChanged: "Another user has logged in, or you have logged out."
        case .refreshFailed, .notRefreshable, .unusableCredential: "Please log in again."
        }
    }
}

extension AuthenticationError: CustomStringConvertible {
    /// The error in one sentence, without the credential.
    public var description: String {
        switch self {
        case .userHasChanged: "The user has changed since the request was made."
        case .unusableCredential:
            "The credential can't be sent in a header: it is empty, has a space at an end, or holds a control or a letter outside ASCII."
        case .refreshFailed(let error): "No new credential could be had: \(error.safeName)".endingSentence
        case .notRefreshable: "The credential can't be replaced."
        }
    }
}
