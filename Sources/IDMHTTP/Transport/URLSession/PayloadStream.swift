#if canImport(FoundationNetworking)
internal import Dispatch
internal import Foundation

/// A file that is read where it is sent, up to the length that was announced.
///
/// URLSession on Linux would read a file on another thread, ahead of what it sends. A piece that came when the task had
/// just been cancelled, or had failed, ended the process. A stream it reads itself, when it wants more.
///
/// URLSession reads each piece into a buffer of its own, and lets a queue that all of the process shares free it. Where
/// no thread comes to that, what has been sent would pile up in memory. So a mark is put behind each piece in that
/// queue, and who reads on waits until not too many are there: for about a second in which no mark has had its turn,
/// and for two at most where some have. It is the session's thread that waits.
///
/// What can't be read, isn't a plain file any more or ends too early fails the task. What is behind the announced
/// length isn't sent: on the connection it would stand for another request.
final class PayloadStream: InputStream {
    /// The file to open, or an open one.
    private enum Source {
        case path(String)
        case handle(FileHandle)
    }

    private let source: Source
    private let length: Int
    private let gate: BackpressureGate
    private let freeing: DispatchQueue
    private var sent = 0
    private var handle: FileHandle?
    private var status = Status.notOpen

    /// Reads what stands at a place when it is asked for.
    convenience init(_ file: URL, length: Int) {
        self.init(.path(file.path), length, Self.newBacklog(), .global())
    }

    /// Reads a file that is open, from its first byte on.
    ///
    /// - Parameters:
    ///   - gate: How many bytes may wait to be freed.
    ///   - freeing: Where they are.
    convenience init(
        _ file: FileHandle, length: Int, gate: BackpressureGate = newBacklog(), freeing: DispatchQueue = .global()
    ) {
        self.init(.handle(file), length, gate, freeing)
    }

    private static func newBacklog() -> BackpressureGate {
        BackpressureGate(limit: 4 << 20, patience: .milliseconds(200), turns: 5)
    }

    private init(_ source: Source, _ length: Int, _ gate: BackpressureGate, _ freeing: DispatchQueue) {
        self.source = source
        self.length = length
        self.gate = gate
        self.freeing = freeing
        super.init(data: Data())
    }

    override var streamStatus: Status { status }

    override var hasBytesAvailable: Bool { sent < length }

    override func open() {
        guard status == .notOpen else { return }
        status = .open
        switch source {
        case .handle(let file): handle = file
        case .path(let path): handle = Self.plainFile(path)
        }
    }

    private static func plainFile(_ path: String) -> FileHandle? {
        // The path may now be a FIFO, and opening it would block.
        let descriptor = path.withCString { Foundation.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var found = stat()
        return fstat(descriptor, &found) == 0 && found.st_mode & S_IFMT == S_IFREG ? file : nil
    }

    /// Called by this class alone: URLSession holds an open stream as long as its task.
    override func close() {
        handle = nil
        status = .closed
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        // The buffer is as big as it may be, however little is read.
        gate.enter(maxLength)
        freeing.async { [gate] in gate.work { gate.leave(maxLength) } }
        var count = -1
        if let handle {
            repeat {
                count = pread(handle.fileDescriptor, buffer, min(maxLength, length - sent), off_t(sent))
            } while count < 0 && errno == EINTR
        }
        sent += max(count, 0)
        if count <= 0 || sent == length { close() }
        return count > 0 ? count : -1
    }
}
#endif
