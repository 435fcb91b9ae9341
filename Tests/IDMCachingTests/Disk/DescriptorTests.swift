import Foundation
import IDMFiles
import TestSupport
import Testing

@testable import IDMCaching

@Suite("A process without descriptors", .fewAtOnce, .timeLimit(.ample))
struct DescriptorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("refuses reads and writes, and both go on afterwards")
    func outOfDescriptors() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let folder = DiskFolder(
                parents: [path], path: path + "/shared", bounds: DiskBounds(), isPowerSafe: false,
                files: POSIXFiles(), process: getpid())
            let record = DiskRecord(key: "key")
            func write(_ value: String) throws {
                let order = WriteOrder(digest: record.digest, tags: [], asked: MachineTime.now)
                _ = try folder.write(
                    #require(record.file(with: value.utf8)), order, if: { true }, orClearIf: { false })
            }
            func read() throws -> String? {
                guard case .entry(_, let file, let value) = try folder.read(record.digest, record.key) else {
                    return nil
                }
                return String(decoding: file[value], as: UTF8.self)
            }
            try write("old")
            let (found, written) = try withoutDescriptors { (Result { try read() }, Result { try write("new") }) }
            #expect(throws: FileFault(call: .open, code: EMFILE, name: "shared")) { try found.get() }
            #expect(throws: FileFault(call: .open, code: EMFILE, name: "shared")) { try written.get() }
            #expect(try read() == "old")
            try write("new")
            #expect(try read() == "new")
        }
    }
}
