public import Foundation
public import IDMHTTP

extension LoopbackServer {
    /// A request as it came.
    public struct Request: Sendable {
        /// The connection that it came on, from 1.
        public let connection: Int
        /// The method.
        public let method: ServiceRequest.Method
        /// The target as it was sent: the path and the query, or a whole address.
        public let target: String
        /// The header, in its order.
        public let headers: ServiceHeaders
        /// The bytes of the header, from the first one of the method to the empty line.
        package let head: Data
        /// The values of the names in the path of the route, without escapes.
        public internal(set) var parameters: [String: String] = [:]
        /// The body, as far as it is kept.
        public internal(set) var body = Data()
        /// The length of the body.
        public internal(set) var bodyLength = 0
        /// All bytes of the body, also those that aren't kept.
        package internal(set) var fingerprint = Fingerprint()
        /// True if the request arrived completely, before its answer.
        public internal(set) var isComplete = false

        /// The part of the target before the query, as it was sent, and behind the host.
        public var path: String { String(target.originForm.prefix { $0 != "?" }) }
        /// The part of the target behind the question mark, as it was sent. Nil without one.
        public var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }
        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }
}
