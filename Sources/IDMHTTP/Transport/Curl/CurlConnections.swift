#if os(Linux)
internal import Foundation

/// The open sockets of a loop, and the connections among them that have carried exchanges. Used on the loop's thread.
///
/// libcurl doesn't report which socket a transfer uses, only the addresses at both ends.
struct CurlConnections {
    /// The addresses at both ends.
    struct Ends: Hashable {
        var local: String
        var remote: String
        var localPort: Int32
        var remotePort: Int32
    }

    private struct Connection {
        let descriptor: Int32
        /// The number of exchanges that use it.
        var users = 0
        /// True if the protocol separates several exchanges at once.
        var isMultiplexed = false
    }

    private var unnamed: Set<Int32> = []
    private var connections: [Ends: Connection] = [:]
    private var names: [Int32: Ends] = [:]

    /// The number of open sockets.
    var count: Int { unnamed.count + names.count }

    mutating func opened(_ descriptor: Int32) { unnamed.insert(descriptor) }

    mutating func closed(_ descriptor: Int32) {
        unnamed.remove(descriptor)
        if let ends = names.removeValue(forKey: descriptor) { connections[ends] = nil }
    }

    /// Begins to use a connection. Returns false if it was idle and has bytes that no exchange asked for, or is
    /// closed: the next bytes wouldn't be the response to the next request.
    ///
    /// - Parameter hasBytes: True if such bytes were already read from the socket.
    mutating func use(_ ends: Ends, hasBytes: @autoclosure () -> Bool) -> Bool {
        guard var connection = connections[ends] else {
            let descriptor = unnamed.first { Self.isSocket($0, from: ends.localPort, to: ends.remotePort) }
            guard let descriptor else { return true }
            unnamed.remove(descriptor)
            names[descriptor] = ends
            connections[ends] = Connection(descriptor: descriptor, users: 1)
            return true
        }
        // A connection that is in use and is used again carries several exchanges.
        if connection.users > 0 { connection.isMultiplexed = true }
        guard connection.isMultiplexed || (!Self.isReadable(connection.descriptor) && !hasBytes()) else { return false }
        connection.users += 1
        connections[ends] = connection
        return true
    }

    /// Ends the use of a connection by one exchange.
    mutating func leave(_ ends: Ends, isMultiplexed: Bool) {
        guard var connection = connections[ends] else { return }
        connection.users -= 1
        connection.isMultiplexed = connection.isMultiplexed || isMultiplexed
        connections[ends] = connection
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, 0) != 0
    }

    private static func isSocket(_ descriptor: Int32, from local: Int32, to remote: Int32) -> Bool {
        port(descriptor, getsockname) == local && port(descriptor, getpeername) == remote
    }

    private static func port(
        _ descriptor: Int32,
        _ name: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> Int32? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard name(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length) == 0 else {
                return nil
            }
            // The port stands at the same place in addresses of both families.
            return Int32(bytes[2]) << 8 | Int32(bytes[3])
        }
    }
}
#endif
