#if canImport(FoundationNetworking)
internal import Foundation

/// A file that is read where it is sent, up to the length that was announced.
///
/// URLSession on Linux would read a file on another thread, ahead of what it sends. A piece that came when the task had
/// just been cancelled, or had failed, ended the process. A stream it reads itself, when it wants more.
///
/// A file that ends too early, or can't be read, fails the task. What is behind the announced length isn't sent.
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
        descriptor = path.withCString { Foundation.open($0, O_RDONLY | O_CLOEXEC) }
        status = .open
    }

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
        guard count > 0 else { return -1 }
        missing -= count
        return count
    }
}
#endif
