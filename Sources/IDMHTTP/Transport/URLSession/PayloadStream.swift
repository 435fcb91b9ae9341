#if canImport(FoundationNetworking)
internal import Foundation

/// A file that is read where it is sent, up to the length that was announced.
///
/// URLSession on Linux would read a file on another thread, ahead of what it sends. A piece that came when the task had
/// just been cancelled, or had failed, ended the process. A stream it reads itself, when it wants more.
///
/// What can't be read, isn't a plain file any more or ends too early fails the task. What is behind the announced
/// length isn't sent: on the connection it would stand for another request.
final class PayloadStream: InputStream {
    private let path: String
    private var missing: Int
    private var descriptor: CInt = -1
    private var status = Status.notOpen

    init(_ file: URL, length: Int) {
        path = file.path
        missing = length
        super.init(data: Data())
    }

    deinit {
        close()
    }

    override var streamStatus: Status { status }

    override var hasBytesAvailable: Bool { missing > 0 }

    override func open() {
        guard status == .notOpen else { return }
        status = .open
        // What stands there by now may be something that keeps whoever opens it waiting.
        descriptor = path.withCString { Foundation.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        var found = stat()
        if descriptor >= 0, fstat(descriptor, &found) != 0 || found.st_mode & S_IFMT != S_IFREG { close() }
    }

    /// Called by nobody but this class: URLSession holds a stream, open, as long as its task is held.
    override func close() {
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
        descriptor = -1
        status = .closed
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        var count: Int
        repeat {
            count = Foundation.read(descriptor, buffer, min(maxLength, missing))
        } while count < 0 && errno == EINTR
        missing -= max(count, 0)
        if count <= 0 || missing == 0 { close() }
        return count > 0 ? count : -1
    }
}
#endif
