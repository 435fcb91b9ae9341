/// The policy for responses that redirect a request: 301, 302, 303, 307 and 308 with a `Location`.
///
/// A request after 303, and a POST after 301 or 302, becomes a GET without a body; HEAD stays.
///
/// A redirect to another origin drops every header field that is marked as secret or has the name of a credential:
/// `Authorization`, `Cookie`, every `…-Key` and similar names, and those that ``ServiceRedaction/adding(_:)`` adds. A
/// key that only locates something, such as `Partition-Key`, is kept.
public struct RedirectPolicy: Sendable, Hashable {
    enum Kind: Sendable { case follow, followAnywhere, hand }

    let kind: Kind
    /// True if a redirect that keeps the method (307 and 308, and 301 and 302 of other methods than POST) takes the
    /// body to another origin. False by default, since a body may contain a password.
    ///
    /// The body of a request of an ``Authenticator`` never leaves its origin.
    public var sendsBodiesToOtherOrigins = false

    init(kind: Kind) { self.kind = kind }

    /// Redirects are followed, but never from https to http. The default.
    public static let follow = RedirectPolicy(kind: .follow)
    /// Redirects are followed, also from https to http. What was secret on the way there is not any more.
    public static let followInsecurely = RedirectPolicy(kind: .followAnywhere)
    /// Redirects are responses like others.
    public static let handOver = RedirectPolicy(kind: .hand)

    /// Why a redirect isn't followed.
    public enum Fault: Error, Sendable, Hashable {
        /// It leads to no address: the Location is empty, stands there twice, or isn't a URL with a host.
        case noAddress
        /// It leads to another scheme than http and https.
        case scheme(String)
        /// It leads from https to http.
        case insecure
        /// It holds a user or a password.
        case userInfo
        /// There were as many before it as are followed.
        case tooMany(limit: Int)
        /// It leads to another origin, where the body isn't sent: ``RedirectPolicy/sendsBodiesToOtherOrigins``.
        case bodyToOtherOrigin
        /// The body would have to be sent again, and can be read once only.
        case bodyIsUsedUp
    }
}

extension RedirectPolicy.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noAddress: "leads to no address"
        case .scheme(let scheme): "leads to the scheme “\(scheme)”"
        case .insecure: "leads from https to http"
        case .userInfo: "holds a user or a password"
        case .tooMany(let limit): "comes after \(limit) others"
        case .bodyToOtherOrigin: "leads to another origin, where the body isn't sent"
        case .bodyIsUsedUp: "needs the body again, which can be read once only"
        }
    }
}
