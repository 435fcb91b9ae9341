import Foundation
import IDMHTTPTesting
import IDMTesting
import Synchronization

/// A server that isn't what is measured: nginx in a process of its own, where it is there, or else one in this process.
///
/// It answers `/a` with five bytes, `/film` with 200 MB, `/archive` with 1 GB, and `PUT /kept/file` with a status. nginx
/// also speaks HTTP/2, with a certificate of its own.
final class WebServer: Sendable {
    static let filmLength = 200 << 20
    static let archiveLength = 1 << 30
    static let shared = Task { try WebServer() }
    private static let process = Mutex<Process?>(nil)

    let url: URL
    /// The address that speaks HTTP/2. Nil without nginx and the tool of OpenSSL.
    let secureURL: URL?
    /// The certificate that it has there.
    let certificate: URL
    private let ownServer: LoopbackServer?
    /// The folder in which nginx stores uploads.
    private let kept: URL?
    private let scratch: Scratch

    private init() throws {
        scratch = try Scratch()
        let folder = scratch.url
        certificate = folder.appendingPathComponent("own.pem")
        guard let nginx = Self.find("nginx"), let openSSL = Self.find("openssl") else {
            let server = try LoopbackServer(remembers: false)
            server.on(.get, "/a", answer: .text("hello"))
            server.on(.get, "/film", answer: .resource(LoopbackServer.Resource(length: Self.filmLength)))
            server.on(.get, "/archive", answer: .resource(LoopbackServer.Resource(length: Self.archiveLength)))
            server.on(.put, "/kept/file", answer: .text(""))
            (url, secureURL, ownServer, kept) = (server.url, nil, server, nil)
            return
        }
        let (port, securePort) = (try Self.freePort(), try Self.freePort())
        let names = "subjectAltName=DNS:localhost"
        let key = ["-newkey", "rsa:2048", "-nodes", "-keyout", "own.key", "-out", "own.pem", "-days", "2"]
        try Self.start(
            openSSL, ["req", "-x509", "-subj", "/CN=localhost", "-addext", names] + key, in: folder
        ).waitUntilExit()
        for (name, length) in [("film", Self.filmLength), ("archive", Self.archiveLength)] {
            let url = folder.appendingPathComponent(name)
            guard FileManager.default.createFile(atPath: url.path, contents: nil) else { throw Fault("no \(name)") }
            let file = try FileHandle(forWritingTo: url)
            try file.truncate(atOffset: UInt64(length))
            try file.close()
        }
        // In memory, where the system has such a folder: a disk would be measured otherwise.
        let shared = URL(fileURLWithPath: "/dev/shm")
        let memory = FileManager.default.isWritableFile(atPath: shared.path) ? shared : folder
        let path = folder.appendingPathComponent("nginx.conf")
        try Data(Self.configuration(port, securePort, folder.path, memory.path).utf8).write(to: path)
        let process = try Self.start(nginx, ["-c", path.path, "-e", "\(folder.path)/errors"], in: folder)
        Self.process.withLock { $0 = process }
        guard let plain = URL(string: "http://127.0.0.1:\(port)"),
            let secure = URL(string: "https://localhost:\(securePort)")
        else { throw Fault("no address") }
        (url, secureURL, ownServer) = (plain, secure, nil)
        kept = memory.appendingPathComponent("benchmark-upload")
        // Until it listens.
        Thread.sleep(forTimeInterval: 0.5)
    }

    /// Removes what was uploaded, and returns its length.
    func takeKept() throws -> Int {
        guard let kept else { return Self.archiveLength }
        defer { try? FileManager.default.removeItem(at: kept) }
        return try FileManager.default.attributesOfItem(atPath: kept.path)[.size] as? Int ?? 0
    }

    /// Ends the server. On Linux it inherits the signals that the thread of its start blocks, so SIGTERM stays pending.
    static func stop() {
        process.withLock { process in
            guard let process, process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
        }
    }

    private static func configuration(_ port: Int, _ securePort: Int, _ folder: String, _ kept: String) -> String {
        """
        daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/errors;
        events { worker_connections 1024; }
        http {
          access_log off; sendfile on; keepalive_requests 100000000; keepalive_timeout 600;
          server {
            listen 127.0.0.1:\(port) backlog=1024; listen 127.0.0.1:\(securePort) ssl http2;
            ssl_certificate \(folder)/own.pem; ssl_certificate_key \(folder)/own.key;
            root \(folder);
            location = /a { return 200 "hello"; }
            location = /kept/file {
              alias \(kept)/benchmark-upload; client_body_temp_path \(kept)/benchmark-parts;
              dav_methods PUT; client_max_body_size 0;
            }
          }
        }
        """
    }

    private static func find(_ tool: String) -> URL? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(tool)" }
            .first(where: FileManager.default.isExecutableFile).map { URL(fileURLWithPath: $0) }
    }

    private static func start(_ tool: URL, _ arguments: [String], in folder: URL) throws -> Process {
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// A port that a server has just given back.
    private static func freePort() throws -> Int { try LoopbackServer().port }
}
