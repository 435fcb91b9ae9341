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
