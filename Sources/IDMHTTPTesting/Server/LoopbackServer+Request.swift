public import Foundation
public import IDMHTTP

extension LoopbackServer {
    /// A request as it came.
    public struct Request: Sendable {
        /// The connection that it came on, from 1.
        public let connection: Int
        /// What was asked for.
        public let method: ServiceRequest.Method
        /// What stood behind the method, as it was sent: the path and the query, or a whole address with them.
        public let target: String
        /// The header, in its order.
        public let headers: ServiceHeaders
        /// The bytes of the header, from the first one of the method to the empty line.
        public let head: Data
        /// What stood in the place of each name in the route's path, with its escapes read.
        public internal(set) var parameters: [String: String] = [:]
        /// The body, as far as it is kept.
        public internal(set) var body = Data()
        /// How many bytes the body has had.
        public internal(set) var bodyLength = 0
        /// All bytes of the body, also those that aren't kept.
        package internal(set) var fingerprint = Fingerprint()
        /// Whether all of it has come. Not, if it was answered before, or broken off.
        public internal(set) var isComplete = false

        /// The part of the target before the query, as it was sent, and behind the host.
        public var path: String { String(target.originForm.prefix { $0 != "?" }) }
        /// The part of the target behind the question mark, as it was sent. Nil without one.
        public var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }
        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }
}
