public import Foundation
import IDMTesting

extension LoopbackServer {
    /// A large file that exists only as a function, and that can be requested in parts.
    ///
    /// ```swift
    /// let film = LoopbackServer.Resource(length: 1 << 30, eTag: #""v1""#)
    /// server.on(.get, "/film", answer: .resource(film))
    /// ```
    public struct Resource: Sendable {
        /// The behavior for a request for a part.
        public enum Ranges: Sendable, Hashable {
            /// It sends the part, if the conditions of the request allow it.
            case honored
            /// It sends the whole, as if it hadn't been asked for a part.
            case ignored
            /// It sends a part that begins so many bytes later, and says so.
            case shifted(by: Int)
            /// It sends the right part, and says that it begins so many bytes later.
            case mislabelled(by: Int)
        }

        /// The number of bytes.
        public let length: Int
        /// The validator, with its quotes, and with `W/` if it is weak. Nil for none.
        public var eTag: String?
        /// The time of the last change, as a validator. Nil for none.
        public var lastModified: String?
        /// The type of the bytes.
        public var contentType = "application/octet-stream"
        /// The behavior for requests for parts.
        public var ranges: Ranges = .honored

        private let content: @Sendable (Range<Int>) -> Data

        /// Makes a resource of a function that knows every part of it. The function runs on the server's thread, and is
        /// asked for no more than a small block. Less than nothing is nothing.
        public init(length: Int, eTag: String? = nil, _ bytes: @escaping @Sendable (Range<Int>) -> Data) {
            self.length = max(length, 0)
            self.eTag = eTag
            content = bytes
        }

        /// Makes a resource of bytes that are made up: the same for the same seed, and nowhere alike. Less than nothing
        /// is nothing.
        public init(length: Int, eTag: String? = nil, seed: UInt64 = 0) {
            let noise = Noise(seed: seed)
            self.init(length: length, eTag: eTag) { noise.bytes($0) }
        }

        /// Makes a resource of bytes that are there.
        public init(_ data: Data, eTag: String? = nil) {
            let data = Data(data)
            self.init(length: data.count, eTag: eTag) { data.subdata(in: $0) }
        }

        /// A part of the resource.
        public func bytes(_ range: Range<Int>) -> Data {
            content(range.clamped(to: 0..<length))
        }

        /// The fingerprint of the whole.
        package var fingerprint: Fingerprint {
            var fingerprint = Fingerprint()
            for start in stride(from: 0, to: length, by: 1 << 16) {
                fingerprint.add(bytes(start..<min(start + 1 << 16, length)))
            }
            return fingerprint
        }
    }
}

/// Bytes that are made up. A block is the same noise each time, but for the number at its start: so a part in the wrong
/// place can't be taken for the right one, and most of the work is copying.
private struct Noise: Sendable {
    private static let blockLength = 4096
    private let block: [UInt8]

    init(seed: UInt64) {
        var numbers = SplitMix(seed: seed)
        var block: [UInt8] = []
        block.reserveCapacity(Self.blockLength)
        while block.count < Self.blockLength { withUnsafeBytes(of: numbers.next()) { block += $0 } }
        self.block = block
    }

    func bytes(_ range: Range<Int>) -> Data {
        var data = Data(capacity: range.count)
        var place = range.lowerBound
        while place < range.upperBound {
            let number = UInt64(place / Self.blockLength)
            let offset = place % Self.blockLength
            if offset < 8 {
                data.append(block[offset] ^ UInt8(truncatingIfNeeded: number >> UInt64(offset * 8)))
                place += 1
            } else {
                let count = min(Self.blockLength - offset, range.upperBound - place)
                data.append(contentsOf: block[offset..<offset + count])
                place += count
            }
        }
        return data
    }
}
