public import Foundation
public import IDMCore

/// An API's way of authentication: adds a credential to a request, and refreshes a credential that the server rejects.
///
/// An ``AuthenticationInterceptor`` stores the credentials.
public protocol Authenticator<Credential>: Sendable {
    /// The credential of a user.
    associatedtype Credential: Sendable

    /// Adds a credential to a request. Throws if the credential is invalid, such as an empty token.
    ///
    /// Header fields and query items that are added or changed become secret: they are never shown, and not sent to
    /// another origin. Credentials in other places aren't recognized as secret.
    func authorize(_ request: inout ServiceRequest, with credential: Credential) throws

    /// Returns the time at which a credential expires, shortly before which it is refreshed. Nil, the default, if it
    /// isn't known.
    func expiry(of credential: Credential) -> Date?

    /// Returns true for a failure that means that the server rejected the credential: by default, the status 401.
    func isRejection(_ error: HTTPError) -> Bool

    /// Returns a new credential for one that was rejected. Called once for all requests that were rejected with the
    /// same credential, away from their actors. It isn't cancelled with them. By default it throws
    /// ``AuthenticationError/notRefreshable``.
    ///
    /// - Parameters:
    ///   - credential: The credential that was rejected.
    ///   - next: The chain behind the interceptor. Requests through it, and requests of the service within this call,
    ///     are sent without a credential and don't wait for this one.
    func refresh(_ credential: Credential, next: InterceptorChain) async throws -> Credential
}

extension Authenticator {
    /// Nil.
    public func expiry(of credential: Credential) -> Date? { nil }

    /// Throws ``AuthenticationError/notRefreshable``.
    public func refresh(_ credential: Credential, next: InterceptorChain) async throws -> Credential {
        throw AuthenticationError.notRefreshable
    }

    /// The status 401.
    public func isRejection(_ error: HTTPError) -> Bool { error.status == 401 }
}

/// The reasons for which a request of a user fails.
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
