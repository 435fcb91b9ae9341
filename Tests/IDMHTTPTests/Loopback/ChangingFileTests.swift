import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A file that is sent", .fewAtOnce, .timeLimit(.ample))
struct ChangingFileTests {
    /// How a file changes while its bytes are on their way.
    enum Change: CaseIterable, Sendable {
        case overwritten, overwrittenAndBackdated, replaced, none

        func make(of file: URL) throws {
            switch self {
            case .none: return
            case .replaced: try Data(count: 300_000).write(to: file, options: .atomic)
            case .overwritten, .overwrittenAndBackdated:
                let handle = try FileHandle(forUpdating: file)
                try handle.write(contentsOf: Data(repeating: 2, count: 300_000))
                try handle.close()
            }
            if self == .overwrittenAndBackdated {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: file.path)
            }
        }
    }

    @Test("fails its request if it changes before the answer comes", arguments: Change.allCases)
    func changed(change: Change) async throws {
        try await withServer { server, service in
            let folder = try TemporaryFolder()
            let file = try folder.file("film", Data(repeating: 1, count: 300_000))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: file.path)
            server.on(.put, "/film") { _ in
                try? change.make(of: file)
                return .text("taken")
            }
            let outcome = await service.outcome(ServiceRequest(.put, "/film", body: .file(file)))
            #expect(outcome == (change == .none ? "200 taken" : "bad request"))
        }
    }
}
