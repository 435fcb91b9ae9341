#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// The calls that the server makes of the system. No call waits.
struct ServerSocket: Sendable {
    enum Received {
        case bytes([UInt8])
        /// Not connected yet.
        case nothing
        case end
        case failed
    }

    enum Sent {
        case bytes(Int)
        /// The network takes nothing now.
        case nothing
        case failed
    }

    enum Accepted {
        case connection(ServerSocket)
        /// No connection is pending.
        case nothing
        /// A connection is pending, and the process has no descriptor left.
        case noRoom

        /// The meaning of an error number.
        static func failed(_ code: Int32) -> Accepted {
            [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) ? .noRoom : .nothing
        }
    }

    let descriptor: Int32
    /// The port that it listens on, if it does.
    let port: Int

    /// A socket that listens on a port of the loopback, which the system chooses.
    static func listening() throws(LoopbackServer.StartFault) -> ServerSocket {
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw fault("socket") }
        do throws(LoopbackServer.StartFault) {
            try prepare(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            #if canImport(Darwin)
            address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
            #endif
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withSockaddr(&address) { bind(descriptor, $0, size) }
            guard bound == 0 else { throw fault("bind") }
            guard listen(descriptor, 1024) == 0 else { throw fault("listen") }
            let named = withSockaddr(&address) { getsockname(descriptor, $0, &size) }
            guard named == 0 else { throw fault("getsockname") }
            return ServerSocket(descriptor: descriptor, port: Int(UInt16(bigEndian: address.sin_port)))
        } catch {
            _ = systemClose(descriptor)
            throw error
        }
    }

    /// Accepts the next connection.
    func accepted() -> Accepted {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return .failed(errno) }
        guard (try? Self.prepare(connection)) != nil else {
            _ = systemClose(connection)
            return .nothing
        }
        var one: Int32 = 1
        // What is written leaves at once: a drip is to be one.
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return .connection(ServerSocket(descriptor: connection, port: 0))
    }

    func receive(_ limit: Int) -> Received {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            count = recv(descriptor, buffer.baseAddress, limit, 0)
            initialized = max(count, 0)
        }
        if count > 0 { return .bytes(bytes) }
        if count == 0 { return .end }
        return isForLater ? .nothing : .failed
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Sent {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        let count = systemSend(descriptor, bytes.baseAddress, bytes.count, flags)
        if count >= 0 { return .bytes(count) }
        return isForLater ? .nothing : .failed
    }

    /// Says that nothing more will be sent.
    func finish() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes with a reset, whatever was sent before.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    func close() {
        _ = systemClose(descriptor)
    }

    /// Makes the socket non-blocking, and closes it in child processes.
    private static func prepare(_ descriptor: Int32) throws(LoopbackServer.StartFault) {
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) >= 0
        else { throw fault("fcntl") }
        #if canImport(Darwin)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    private static func withSockaddr<R>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> R
    ) -> R {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    private static var streamType: Int32 {
        #if canImport(Darwin)
        SOCK_STREAM
        #else
        Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #endif
    }

    static func fault(_ call: String) -> LoopbackServer.StartFault {
        LoopbackServer.StartFault(call: call, code: errno)
    }
}

/// Two ends of a pipe, by which other threads wake the one that waits for sockets.
struct WakePipe: Sendable {
    let reader: Int32
    private let writer: Int32

    init() throws(LoopbackServer.StartFault) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw ServerSocket.fault("pipe") }
        (reader, writer) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    func wake() {
        var byte: UInt8 = 0
        // A pipe that is full wakes as well.
        _ = write(writer, &byte, 1)
    }

    func drain() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(reader, &bytes, 16) > 0 {}
    }

    func close() {
        _ = systemClose(reader)
        _ = systemClose(writer)
    }
}

/// The awaited events of a descriptor.
struct Readiness {
    private var entries: [pollfd] = []

    mutating func add(_ descriptor: Int32, reading: Bool, writing: Bool) {
        let events = (reading ? Int32(POLLIN) : 0) | (writing ? Int32(POLLOUT) : 0)
        entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }

    /// Waits until something has happened, or for so many milliseconds. Nil for ever.
    mutating func wait(_ limit: Int32? = nil) {
        let count = nfds_t(entries.count)
        while poll(&entries, count, limit ?? -1) < 0 && errno == EINTR {}
    }

    /// The events of the descriptor with an index.
    func happened(_ index: Int) -> (canRead: Bool, canWrite: Bool, isBroken: Bool) {
        let events = Int32(entries[index].revents)
        return (
            events & Int32(POLLIN) != 0, events & Int32(POLLOUT) != 0,
            events & Int32(POLLERR | POLLNVAL | POLLHUP) != 0
        )
    }
}

private var isForLater: Bool { errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR }

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}
