#if os(Linux)
internal import CIDMCurl
internal import Foundation
internal import IDMCore

/// The functions that libcurl calls, on the thread of a loop. They find their exchange by its number.
enum CurlCallbacks {
    static let table = cidm_callbacks(
        header: { bytes, size, count, number in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            // Any other number ends the transfer.
            return CurlExchange.withNumber(number)?.receiveHeader(line) == true ? line.count : 0
        },
        write: { bytes, size, count, number in
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let exchange = CurlExchange.withNumber(number) else { return 0 }
            return switch exchange.receive(piece.bytes) {
            case .taken: piece.count
            case .paused: pauseCode
            case .refused: 0
            }
        },
        read: { bytes, size, count, number in
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            switch CurlExchange.withNumber(number)?.supplyBody(upTo: buffer.count) {
            case .bytes(let pieces):
                var length = 0
                for piece in pieces {
                    UnsafeMutableRawBufferPointer(rebasing: buffer[length...]).copyBytes(from: piece)
                    length += piece.count
                }
                return length
            case .paused: return pauseCode
            case .end: return 0
            case nil: return abortCode
            }
        },
        prereq: { number, remote, local, remotePort, localPort in
            guard let exchange = CurlExchange.withNumber(number), let remote, let local else { return 1 }
            let ends = CurlConnections.Ends(
                local: String(cString: local), remote: String(cString: remote), localPort: localPort,
                remotePort: remotePort)
            return exchange.leaves(over: ends) ? 0 : 1
        },
        opened: { loop, descriptor in
            CurlLoop.withNumber(loop)?.connections.withLock { $0.opened(descriptor) }
            return 0
        },
        closed: { loop, descriptor in
            CurlLoop.withNumber(loop)?.connections.withLock { $0.closed(descriptor) }
            return 0
        })

    private static let pauseCode = 0x1000_0001
    private static let abortCode = 0x1000_0000
}
#endif
