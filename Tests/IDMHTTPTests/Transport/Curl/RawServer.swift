#if os(Linux)
import Foundation
import IDMCore

@testable import IDMHTTP

/// A server that does with each connection what a test says, byte by byte, on a thread of the connection's own.
final class RawServer: Sendable {
    let port: Int
    private let listener: Int32
    private let connections = Locked<[Int32]>([])

    /// - Parameters:
    ///   - address: The address to listen at, of either family.
    ///   - serve: Serves a connection, with its number from 1. The connection is closed when it returns.
    init(at address: String = "127.0.0.1", _ serve: @escaping @Sendable (RawConnection) -> Void) throws {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "0", &hints, &found) == 0, let found else { throw POSIXError(.EADDRNOTAVAIL) }
        defer { freeaddrinfo(found) }
        let socket = Glibc.socket(found.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        listener = socket
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isListening =
            bind(socket, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 && listen(socket, 512) == 0
            && withUnsafeMutableBytes(of: &name) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { getsockname(socket, $0.baseAddress!, &length) == 0 }
            }
        guard isListening else {
            close(socket)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        port = withUnsafeBytes(of: name) { Int($0[2]) << 8 | Int($0[3]) }
        Thread.detachNewThread { [self] in accept(serve) }
    }

    func url(_ path: String = "/", host: String = "127.0.0.1") -> URL { URL(string: "http://\(host):\(port)\(path)")! }

    /// How many connections have been made.
    var connectionCount: Int { connections.withLock { $0.count } }

    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func accept(_ serve: @escaping @Sendable (RawConnection) -> Void) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            var isOn: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
            let number = connections.withLock { connections in
                connections.append(descriptor)
                return connections.count
            }
            Thread.detachNewThread {
                serve(RawConnection(descriptor: descriptor, number: number))
                close(descriptor)
            }
        }
        close(listener)
    }
}

/// One connection of a ``RawServer``.
struct RawConnection: Sendable {
    let descriptor: Int32
    let number: Int

    /// The head of the next request, whose body is dropped. Nil when the client has closed.
    func readHead() -> String? {
        var received: [UInt8] = []
        while !received.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            var byte: UInt8 = 0
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            received.append(byte)
        }
        let head = String(decoding: received, as: UTF8.self)
        guard let field = head.range(of: "\r\nContent-Length: ") else { return head }
        var rest = Int(head[field.upperBound...].prefix { $0.isNumber }) ?? 0
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while rest > 0 {
            let count = recv(descriptor, &bytes, min(rest, bytes.count), 0)
            guard count > 0 else { return nil }
            rest -= count
        }
        return head
    }

    /// Returns whether all of it has gone.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                send(descriptor, bytes.baseAddress! + offset, bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    /// Lets the server's thread of this connection pause.
    func pause(milliseconds: Int) {
        _ = poll(nil, 0, Int32(milliseconds))
    }

    /// Waits until the client closes.
    func waitForClose() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while recv(descriptor, &bytes, bytes.count, 0) > 0 {}
    }

    /// Resets the connection when it is closed.
    func resetAtClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

/// Runs a test with a server that serves each connection in the same way, and with a service over a transport of its
/// own.
func withRawServer(
    at address: String = "127.0.0.1", _ serve: @escaping @Sendable (RawConnection) -> Void,
    _ body: (RawServer, HTTPService) async throws -> Void
) async throws {
    let server = try RawServer(at: address, serve)
    defer { server.stop() }
    let host = address.contains(":") ? "[\(address)]" : address
    var configuration = ServiceConfiguration(baseURL: server.url("", host: host), idleTimeout: .patient)
    configuration.cache = nil
    try await body(server, HTTPService(configuration: configuration, transport: try CurlTransport()))
}
#endif
