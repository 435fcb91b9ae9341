public import Foundation
public import IDMHTTP

extension LoopbackServer {
    /// A request as it came.
    public struct Request: Sendable {
        /// The connection that it came on, from 1.
        public let connection: Int
        /// What was asked for.
        public let method: ServiceRequest.Method
        /// What stood behind the method, as it was sent: the path, and the query.
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
        public internal(set) var fingerprint = Fingerprint()
        /// Whether all of it has come. Not, if it was answered before, or broken off.
        public internal(set) var isComplete = false

        /// The part of the target before the query, as it was sent.
        public var path: String { String(target.prefix { $0 != "?" }) }
        /// The part of the target behind the question mark, as it was sent. Nil without one.
        public var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }
        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Tells bytes from other bytes without keeping them. Made for speed, and not against those who would deceive it.
    public struct Fingerprint: Sendable, Hashable {
        private var state: UInt64 = 0xCBF2_9CE4_8422_2325
        private var length = 0
        /// The bytes behind the last whole word, the first one lowest.
        private var rest: UInt64 = 0

        /// The fingerprint of no bytes.
        public init() {}

        /// The fingerprint of some bytes.
        public init(of data: Data) {
            add(data)
        }

        /// Adds more bytes. It doesn't matter how they are split.
        public mutating func add(_ data: Data) {
            data.withUnsafeBytes { add($0) }
        }

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            var place = 0
            while place < bytes.count, length % 8 != 0 { add(bytes[place], &place) }
            while bytes.count - place >= 8 {
                mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                place += 8
                length += 8
            }
            while place < bytes.count { add(bytes[place], &place) }
        }

        private mutating func add(_ byte: UInt8, _ place: inout Int) {
            rest |= UInt64(byte) << UInt64(length % 8 * 8)
            length += 1
            place += 1
            if length % 8 == 0 {
                mix(rest)
                rest = 0
            }
        }

        private mutating func mix(_ word: UInt64) {
            state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
            state ^= state >> 29
        }
    }
}
