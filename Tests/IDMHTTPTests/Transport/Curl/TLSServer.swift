#if os(Linux)
import Foundation
import TestSupport

@testable import IDMHTTP

/// A server with TLS in Python, with certificates of an authority that OpenSSL's tool makes for the test.
final class TLSServer {
    let port: Int
    private let child: ChildProcess

    /// True if the system has python3 with ssl, and openssl.
    static let isAvailable: Bool = {
        let python = try? ChildProcess.output("python3", ["-c", "import ssl; print('yes')"])
        let openSSL = try? ChildProcess.output("openssl", ["version"])
        return python == Data("yes\n".utf8) && openSSL?.isEmpty == false
    }()

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - kind: What the server does, by its name in the script.
    ///   - certificate: The name of its certificate.
    init?(_ kind: String, certificate: String, in folder: URL) throws {
        guard let child = try ChildProcess("python3", ["-c", Self.script, kind, certificate], in: folder),
            let line = child.readLine(), let port = Int(line)
        else { return nil }
        self.child = child
        self.port = port
    }

    var url: URL { URL(string: "https://localhost:\(port)/")! }

    /// How many connections the server has accepted.
    func connectionCount() -> Int { child.reply(to: "count").flatMap { Int($0) } ?? -1 }

    /// Sends a response that no request asked for, over the last connection. Returns when it is sent.
    func sendUnasked() { _ = child.reply(to: "unasked") }

    /// Makes an authority, and certificates that are good, expired, for another host and signed by themselves. Returns
    /// the authority's.
    static func makeCertificates(in folder: URL) throws -> URL {
        let commands = """
            set -e
            key() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key; }
            key ca
            openssl req -x509 -new -key ca.key -subj /CN=Authority -days 30 -out ca.pem
            sign() {
              key $1
              openssl req -new -key $1.key -subj /CN=$1 -out $1.csr
              printf "subjectAltName=DNS:$2" > $1.ext
              openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile $1.ext -out $1.pem $3
            }
            sign good localhost "-days 30"
            sign other example.com "-days 30"
            sign expired localhost "-days -1"
            key own
            openssl req -x509 -new -key own.key -subj /CN=localhost -addext subjectAltName=DNS:localhost \
              -days 30 -out own.pem
            """
        _ = try ChildProcess.output("sh", ["-c", commands], in: folder)
        return folder.appendingPathComponent("ca.pem")
    }

    /// Serves each connection in a thread. The first line of its output is its port.
    private static let script = """
        import queue, select, socket, ssl, struct, sys, threading

        kind, name = sys.argv[1:]
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(name + ".pem", name + ".key")
        context.set_alpn_protocols(["h2"] if kind.startswith("h2") else ["http/1.1"])
        if kind == "tls1.0":
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1
        count, last, sent = [0], [None], queue.Queue()
        unasked = b"HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\npoison"

        def frame(type, flags, stream, payload):
            return struct.pack(">I", len(payload))[1:] + bytes([type, flags]) + struct.pack(">I", stream) + payload

        def field(name, value):
            return b"\\0" + bytes([len(name)]) + name + bytes([len(value)]) + value

        def receive(connection, length):
            data = b""
            while len(data) < length:
                piece = connection.recv(length - len(data))
                if not piece: raise EOFError
                data += piece
            return data

        def serve_h2(connection, number):
            receive(connection, 24)
            connection.sendall(frame(4, 0, 0, b""))
            while True:
                head = receive(connection, 9)
                length, type, flags = struct.unpack(">I", b"\\0" + head[:3])[0], head[3], head[4]
                stream = struct.unpack(">I", head[5:])[0]
                receive(connection, length)
                if type == 4 and not flags & 1: connection.sendall(frame(4, 1, 0, b""))
                if type != 1: continue
                trailers = kind == "h2trailers"
                body = b"hello at %d" % number
                answer = frame(1, 4, stream, b"\\x88" + field(b"content-type", b"text/plain"))
                answer += frame(0, 0 if trailers else 1, stream, body)
                if trailers: answer += frame(1, 5, stream, field(b"x-sum", b"1"))
                connection.sendall(answer)

        # The heads of responses without a body, by the names of their paths.
        heads = {
            b"/noContent": b"204 No Content\\r\\n\\r\\n", b"/notModified": b"304 Not Modified\\r\\n\\r\\n",
            b"/head": b"200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n",
            b"/unauthorized": b"401 Who\\r\\nWWW-Authenticate: Basic\\r\\nContent-Length: 0\\r\\n\\r\\n",
            b"/redirect": b"302 Found\\r\\nLocation: /next\\r\\nContent-Length: 0\\r\\n\\r\\n",
        }

        def serve_h1(connection, number):
            reader = connection.makefile("rb")
            # OpenSSL allows one thread at a time: this one sends what the main thread asks for.
            wake, waker = socket.socketpair()
            while True:
                while wake in select.select([connection, wake], [], [])[0]:
                    wake.recv(1)
                    connection.sendall(unasked)
                    sent.put(True)
                path = reader.readline().split(b" ")[1:2]
                if not path: return
                while True:
                    line = reader.readline()
                    if not line: return
                    if line == b"\\r\\n": break
                if path[0] in heads:
                    last[0] = waker
                    connection.sendall(b"HTTP/1.1 " + heads[path[0]] + (unasked if kind == "split" else b""))
                    continue
                body = b"hello at %d" % number
                if kind in ("cut", "close"):
                    connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + body)
                    if kind == "close": connection.unwrap()
                    return
                head = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
                last[0] = waker
                connection.sendall(head)
                connection.sendall(body + (unasked if kind == "split" else b""))

        def serve(raw, number):
            try:
                if kind == "plain":
                    raw.recv(4096)
                    raw.sendall(b"HTTP/1.1 400 Bad Request\\r\\nContent-Length: 0\\r\\n\\r\\n")
                    return
                connection = context.wrap_socket(raw, server_side=True)
                (serve_h2 if kind.startswith("h2") else serve_h1)(connection, number)
                raw = connection
            except (OSError, EOFError, ssl.SSLError): pass
            finally: raw.close()

        def accept():
            while True:
                raw, _ = listener.accept()
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                count[0] += 1
                threading.Thread(target=serve, args=(raw, count[0]), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        for command in sys.stdin:
            if command == "unasked\\n":
                last[0].send(b"x")
                sent.get()
            print(count[0], flush=True)
        """
}
#endif
