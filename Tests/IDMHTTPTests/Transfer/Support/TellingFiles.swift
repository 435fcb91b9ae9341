import Foundation
import IDMFiles

@testable import IDMHTTP

/// The calls of the system, which tell another process by a pipe whenever something has been written.
struct TellingFiles: FileLayer {
    private let base = POSIXFiles()
    private let pipe: Int32

    init(_ path: String) {
        pipe = Foundation.open(path, O_WRONLY | O_NONBLOCK)
    }

    var session: String? { base.session }

    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int {
        let count = try base.write(file, bytes, at: offset)
        // A pipe that is full hasn't been read yet: whoever reads it looks afterwards.
        _ = Foundation.write(pipe, "w", 1)
        return count
    }

    func open(_ place: FilePlace, _ way: FileOpening) throws(FileFault) -> Int32 { try base.open(place, way) }
    func status(_ file: Int32) throws(FileFault) -> FileStatus { try base.status(file) }
    func status(at place: FilePlace) throws(FileFault) -> FileStatus { try base.status(at: place) }
    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int {
        try base.read(file, bytes, at: offset)
    }
    func cut(_ file: Int32, to length: Int64) throws(FileFault) { try base.cut(file, to: length) }
    func lock(_ file: Int32, waits: Bool) throws(FileFault) { try base.lock(file, waits: waits) }
    func unlock(_ file: Int32) throws(FileFault) { try base.unlock(file) }
    func permit(_ file: Int32, _ mode: UInt32) throws(FileFault) { try base.permit(file, mode) }
    func synchronize(_ file: Int32) throws(FileFault) { try base.synchronize(file) }
    func close(_ file: Int32) throws(FileFault) { try base.close(file) }
    func rename(_ place: FilePlace, _ target: FilePlace) throws(FileFault) { try base.rename(place, target) }
    func link(_ place: FilePlace, _ target: FilePlace) throws(FileFault) { try base.link(place, target) }
    func remove(_ place: FilePlace) throws(FileFault) { try base.remove(place) }
    func touch(_ file: Int32, _ time: Int64) throws(FileFault) { try base.touch(file, time) }
    func duplicate(_ file: Int32) throws(FileFault) -> Int32 { try base.duplicate(file) }
    func makeFolder(_ place: FilePlace) throws(FileFault) { try base.makeFolder(place) }
    func names(in folder: Int32) throws(FileFault) -> [String] { try base.names(in: folder) }
}
