import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Files that are other ones by the time that there is an answer.
extension UploadTests {
    @Test("A source that has become longer, shorter or has gone fails the upload, which doesn't arrive whole")
    func sources() async throws {
        let bytes = filling(200_000)
        let ways: [(String, @Sendable (URL) throws -> Void)] = [
            ("longer", { try (bytes + Data([1])).write(to: $0) }), ("shorter", { try bytes.dropLast().write(to: $0) }),
            ("no such file", { try FileManager.default.removeItem(at: $0) }),
            ("longer", { try Self.append(to: $0) }), ("shorter", { try Self.truncate($0) }),
        ]
        for (index, (word, way)) in ways.enumerated() {
            let file = try folder.file("film", bytes)
            // The first three before it is opened, the others half-way.
            let moment = index < 3 ? 0 : 65_536
            let transport = BodyTransport(beforePiece: { _, count in if count == moment { try way(file) } })
            let error = await #expect(throws: HTTPError.self) {
                try await UploadProvider(try HTTPService(transport)).request(put(.file(file)))
            }
            guard case .badRequest(.body(.file("film", let reason)))? = error?.reason else {
                Issue.record("\(word): \(String(describing: error))")
                continue
            }
            #expect(reason.contains(word))
            #expect(transport.bodies[0].count < 200_000, "\(word)")
        }
    }

    @Test("A file that changes after it was read, or while it is, fails the upload as well, also as one of many")
    func changedSources() async throws {
        let bytes = filling(200_000)
        let ways: [(String, @Sendable (URL) throws -> Void)] = [
            ("changed", { try Self.overwrite($0) }), ("longer", { try (bytes + Data(count: 10)).write(to: $0) }),
            ("shorter", { try bytes.dropLast().write(to: $0) }),
            ("no such file", { try FileManager.default.removeItem(at: $0) }),
            ("changed", { try Self.replace($0) }),
            (
                "changed",
                {
                    try Self.overwrite($0)
                    try Self.age($0)
                }
            ),
        ]
        for (word, way) in ways {
            let (first, second) = (try folder.file("film", bytes), try folder.file("other", bytes))
            try Self.age(first)
            let changed = Observed(false)
            let transport = BodyTransport(beforePiece: { _, count in
                // While the second one travels.
                guard count > 270_000,
                    !changed.change({ isChanged in
                        defer { isChanged = true }; return isChanged
                    })
                else { return }
                try way(first)
            })
            let body = RequestBody.multipart(MultipartBody([.file("film", first), .file("other", second)]))
            let error = await #expect(throws: HTTPError.self) {
                try await UploadProvider(try HTTPService(transport)).request(put(body))
            }
            guard case .badRequest(.body(.file("film", let reason)))? = error?.reason else {
                Issue.record("\(word): \(String(describing: error))")
                continue
            }
            #expect(reason.contains(word) && changed.value)
        }
    }

    @Test("A file that changes fails the upload as what it is, whatever the server has to say about what has arrived")
    func changedAndRefused() async throws {
        let file = try folder.file("film", filling(200_000))
        try Self.age(file)
        let transport = BodyTransport { _ in
            #expect(throws: Never.self) { try Self.overwrite(file) }
            return .text("not a film", status: 422)
        }
        let error = await #expect(throws: HTTPError.self) {
            try await UploadProvider(try HTTPService(transport)).request(put(.file(file)))
        }
        guard case .badRequest(.body(.file("film", _)))? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.response?.text == "not a film")
    }

    /// Puts another file in its place, which is as long and as old.
    private static func replace(_ file: URL) throws {
        let other = file.appendingPathExtension("new")
        try Data(count: 200_000).write(to: other)
        try age(other)
        #expect(rename(other.path, file.path) == 0)
    }

    /// Lets a file be one that had not been touched for long.
    private static func age(_ file: URL) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: file.path)
    }

    private static func overwrite(_ file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data(count: 1_000))
        try handle.close()
    }

    private static func append(to file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([1]))
        try handle.close()
    }

    private static func truncate(_ file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 100_000)
        try handle.close()
    }
}
