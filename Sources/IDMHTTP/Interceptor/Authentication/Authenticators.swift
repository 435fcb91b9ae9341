public import Foundation

/// Sends a token as `Authorization: Bearer …`, and can refresh it.
public struct BearerAuthenticator<Credential: Sendable>: Authenticator {
    private let token: @Sendable (Credential) -> String
    private let expiry: @Sendable (Credential) -> Date?
    private let refresher: (@Sendable (Credential, InterceptorChain) async throws -> Credential)?

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - token: The token of a credential.
    ///   - expiry: The time at which a credential expires. Nil if it isn't known.
    ///   - refresh: What ``Authenticator/refresh(_:next:)`` does.
    public init(
        token: @escaping @Sendable (Credential) -> String,
        expiry: @escaping @Sendable (Credential) -> Date? = { _ in nil },
        refresh: @escaping @Sendable (Credential, InterceptorChain) async throws -> Credential
    ) {
        self.token = token
        self.expiry = expiry
        refresher = refresh
    }

    /// Asks the closure.
    public func expiry(of credential: Credential) -> Date? { expiry(credential) }

    /// Puts the token into the header.
    public func authorize(_ request: inout ServiceRequest, with credential: Credential) throws {
        let token = token(credential)
        guard token.isUsableInHeader else { throw AuthenticationError.unusableCredential }
        request.headers.setSecret(.authorization, "Bearer \(token)")
    }

    /// Asks the closure.
    public func refresh(_ credential: Credential, next: InterceptorChain) async throws -> Credential {
        guard let refresher else { throw AuthenticationError.notRefreshable }
        return try await refresher(credential, next)
    }
}

extension BearerAuthenticator where Credential == String {
    /// Makes an authenticator of tokens that can't be replaced.
    public init() {
        token = { $0 }
        expiry = { _ in nil }
        refresher = nil
    }
}

/// Sends a user name and a password as `Authorization: Basic …` (RFC 7617).
public struct BasicAuthenticator: Authenticator {
    /// A user name and a password.
    public struct Credential: Sendable, Hashable {
        let user: String
        let password: String

        /// Makes a credential. A colon ends the name, so that the name can't hold one.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// Makes an authenticator.
    public init() {}

    /// Puts name and password into the header.
    public func authorize(_ request: inout ServiceRequest, with credential: Credential) throws {
        // Scalar by scalar: for a server a colon ends the name also before a mark that is drawn on top of it.
        guard !credential.user.unicodeScalars.contains(":"), !credential.user.isEmpty || !credential.password.isEmpty,
            !"\(credential.user)\(credential.password)".unicodeScalars.contains(where: {
                $0.value < 32 || $0.value == 127
            })
        else { throw AuthenticationError.unusableCredential }
        let pair = Data("\(credential.user):\(credential.password)".utf8)
        request.headers.setSecret(.authorization, "Basic \(pair.base64EncodedString())")
    }
}

extension BasicAuthenticator.Credential: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(user):\(ServiceRedaction.mark)" }

    /// The description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Sends a key in a header field such as `X-API-Key`. The key is secret, whatever the name of the field.
public struct HeaderAuthenticator: Authenticator {
    private let name: ServiceHeaders.Name

    /// Makes an authenticator that puts keys into a header.
    public init(_ name: ServiceHeaders.Name) {
        self.name = name
    }

    /// Puts the key into the header. A key may hold spaces: `Token abc`.
    public func authorize(_ request: inout ServiceRequest, with key: String) throws {
        guard key.isUsableAsHeader else { throw AuthenticationError.unusableCredential }
        request.headers.setSecret(name, key)
    }
}

extension String {
    fileprivate var isUsableInHeader: Bool {
        !isEmpty && utf8.allSatisfy { (33...126).contains($0) }
    }

    /// True for a text that can be the whole value of a header: printable ASCII without a space at either end, since
    /// servers drop those.
    fileprivate var isUsableAsHeader: Bool {
        utf8.allSatisfy { (32...126).contains($0) } && !isEmpty && utf8.first != 32 && utf8.last != 32
    }
}
