import Foundation
import TestSupport
import Testing

@testable import IDMCaching

@Suite("A process without descriptors", .fewAtOnce, .timeLimit(.ample))
struct DescriptorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// What becomes of something while the process may have no more descriptors. Those that it has stay with it.
    private static func withoutDescriptors<R>(_ body: () -> R) throws -> R {
        var limits = rlimit()
        try #require(getrlimit(descriptors, &limits) == 0)
        var none = limits
        none.rlim_cur = 0
        try #require(setrlimit(descriptors, &none) == 0)
        let result = body()
        try #require(setrlimit(descriptors, &limits) == 0)
        return result
    }

    #if canImport(Glibc)
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let descriptors = RLIMIT_NOFILE
    #endif

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
            // For a moment only, and on this thread alone: where Dispatch needs a descriptor of its own and finds none,
            // it ends the process. A limit, since of descriptors that are all taken another thread may give one back.
            let (found, written) = try Self.withoutDescriptors { (Result { try read() }, Result { try write("new") }) }
            #expect(throws: FileFault(call: .open, code: EMFILE)) { try found.get() }
            #expect(throws: FileFault(call: .open, code: EMFILE)) { try written.get() }
            #expect(try read() == "old")
            try write("new")
            #expect(try read() == "new")
        }
    }
}
