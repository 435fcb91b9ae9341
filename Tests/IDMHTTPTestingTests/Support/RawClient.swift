import Foundation
import IDMHTTPTesting
import IDMTesting

/// A raw client that sends any bytes.
final class RawClient: Sendable {
    struct Heard: Sendable {
        var bytes: [UInt8] = []
        /// True if the server has closed the connection.
        var isOver = false
        /// True if the server has reset the connection.
        var isReset = false

        var text: String { String(decoding: bytes, as: UTF8.self) }
        /// The bytes after the first empty line.
        var body: String { text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "" }
    }

    private let heard = Observed(Heard())
    private let descriptor: Int32

    /// Connects. What comes is read at once, unless it is said that it isn't.
    convenience init(_ server: LoopbackServer, listening: Bool = true) throws {
        try self.init(port: server.port, listening: listening)
    }

    /// Connects to a port of the loopback.
    init(port: Int, listening: Bool = true) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        // A process that another test starts meanwhile would hold the connection as well.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard connected == 0 else { throw POSIXError(.ECONNREFUSED) }
        if listening { listen() }
    }

    deinit {
        // The thread that reads holds the client: when nobody does, nobody reads.
        close(descriptor)
    }

    /// Sends text, on a thread of its own if it is long.
    func send(_ text: String) {
        send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) {
        guard bytes.count > 1 << 12 else { return write(bytes) }
        Thread { [self] in write(bytes) }.start()
    }

    /// Reads from now on.
    func listen() {
        Thread { [self] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                let code = errno
                let piece = Array(buffer.prefix(max(count, 0)))
                heard.change { heard in
                    heard.bytes += piece
                    heard.isOver = count <= 0
                    heard.isReset = count < 0 && code == ECONNRESET
                }
                if count <= 0 { return }
            }
        }.start()
    }

    /// Closes the connection and ends the reading thread.
    func hangUp() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Waits until the received bytes meet a condition.
    func hears(_ isSatisfied: @escaping @Sendable (Heard) -> Bool) async throws -> Heard {
        try await heard.wait(until: isSatisfied)
        return heard.value
    }

    /// Waits until the server has closed.
    func hearsEverything() async throws -> Heard {
        try await hears(\.isOver)
    }

    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { sendBytes(descriptor, $0, flags) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, flags)
}
