internal import Foundation

/// A temporary file, accessible to this user alone.
struct TemporaryFile: Sendable {
    let url: URL
    let handle: FileHandle

    init(in folder: URL = FileManager.default.temporaryDirectory) throws {
        url = folder.appendingPathComponent("idm-\(UUID().uuidString)")
        let descriptor = url.path.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Does work with files, and converts its errors to those of a transport.
    static func puttingAside<Value>(_ work: () throws -> Value) throws(TransportFault) -> Value {
        do {
            return try work()
        } catch let error as POSIXError {
            throw TransportFault(aside: error.code)
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            let code = cause.flatMap { $0.domain == NSPOSIXErrorDomain ? Int32(exactly: $0.code) : nil }
            if case CocoaError.fileWriteOutOfSpace = error { throw TransportFault(.noSpace) }
            throw TransportFault(aside: code.flatMap(POSIXErrorCode.init(rawValue:)) ?? .EIO)
        }
    }

    /// Takes its name away. The file stays as long as it is open, and no longer: not even if the process is killed.
    func unname() {
        _ = url.path.withCString { unlink($0) }
    }

    /// Takes it away, and the room that it has on the disk though it may be open for a while.
    func remove() {
        unname()
        _ = ftruncate(handle.fileDescriptor, 0)
    }
}

extension TransportFault {
    /// The fault of a file that is put aside.
    fileprivate init(aside code: POSIXErrorCode) {
        self.init([.ENOSPC, .EDQUOT].contains(code) ? .noSpace : .notPutAside(code: code.rawValue))
    }
}
