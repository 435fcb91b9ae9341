import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The body of a request", .fewAtOnce, .timeLimit(.ample))
struct RequestBodyTests {
    private struct User: Encodable {
        var name = "Ada"
        var score: Double = 1
    }

    @Test(
        "a body has its content type",
        arguments: [
            (.json(["a": 1]), "application/json"), (.form(["a": 1]), "application/x-www-form-urlencoded"),
            (.text("é"), "text/plain; charset=utf-8"), (.bytes(Data([1])), "application/octet-stream"),
            (.bytes(Data(), contentType: "image/png"), "image/png"),
            (.custom(contentType: "text/csv") { Data() }, "text/csv"),
        ] as [(RequestBody, String)])
    func contentTypes(body: RequestBody, type: String) throws {
        let request = try api().resolve(ServiceRequest(.post, "/", body: body))

        #expect(request.headers[.contentType] == type)
    }

    @Test("in memory is there at once, and as often as it is read")
    func inMemory() async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let bodies: [(RequestBody, String)] = [
            (.json(User(), encoder: encoder), #"{"name":"Ada","score":1}"#),
            (.form(["a": "b c", "d": [1, 2]]), "a=b+c&d=1&d=2"),
            (.text("é"), "é"), (.custom(contentType: "x/y") { Data("own".utf8) }, "own"), (.text(""), ""),
            (.multipart(MultipartBody([], boundary: "B")), "--B--\r\n"),
            (
                .multipart(MultipartBody([.text("a", "é")], boundary: "B")),
                "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\né\r\n--B--\r\n"
            ),
        ]
        for (body, text) in bodies {
            let encoded = try body.encoded()
            #expect(encoded.data == Data(text.utf8))
            #expect(encoded.length == text.utf8.count && encoded.isReplayable)
            #expect(try await encoded.bytes().all() == Data(text.utf8))
            #expect(try await encoded.bytes().all() == Data(text.utf8))
        }
    }

    @Test("a body is encoded when it is sent")
    func late() throws {
        let count = Atomic(0)
        let body = RequestBody.custom(contentType: "x/y") {
            count.add(1, ordering: .relaxed)
            return Data()
        }

        #expect(count.load(ordering: .relaxed) == 0)
        _ = try body.encoded()
        _ = try body.encoded()
        #expect(count.load(ordering: .relaxed) == 2)
    }

    @Test("an encoding error names the place without the value")
    func encodingFaults() throws {
        let request = ServiceRequest(.post, "/", body: .json(["users": [User(), User(score: .nan)]]))

        let fault = #expect(throws: ServiceRequest.Fault.self) { try api().resolve(request) }
        guard case .body(.encoding(let path, let reason)) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(path == "users.1.score")
        #expect(!reason.isEmpty)
    }

    @Test("an error of a custom encoder shows its type only")
    func customFaults() throws {
        struct Leak: Error { let password = "s3cret" }
        let request = ServiceRequest(.post, "/", body: .custom(contentType: "x/y") { throw Leak() })

        #expect(throws: ServiceRequest.Fault.body(.encoding(path: "", reason: "Leak"))) { try api().resolve(request) }
    }

    @Test("with a type that can't stand in a header is refused", arguments: ["a\r\nX: y", "é", "a\0"])
    func badTypes(type: String) throws {
        #expect(throws: ServiceRequest.Fault.body(.contentType)) {
            try api().resolve(ServiceRequest(.post, "/", body: .bytes(Data(), contentType: type)))
        }
    }

    @Test("in a file is read in pieces, and as often as it is sent")
    func file() async throws {
        let folder = try TemporaryFolder()
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let encoded = try RequestBody.file(folder.file("f", content)).encoded()

        #expect(encoded.length == content.count && encoded.data == nil && encoded.isReplayable)
        var sizes: [Int] = []
        for try await piece in try encoded.bytes() { sizes.append(piece.count) }
        #expect(sizes == [65536, 65536, 65536, 3392])
        #expect(try await encoded.bytes().all() == content)
    }

    @Test("in an empty file is empty")
    func emptyFile() async throws {
        let folder = try TemporaryFolder()
        let encoded = try RequestBody.file(folder.file("f", "")).encoded()

        #expect(encoded.length == 0)
        #expect(try await encoded.bytes().all() == Data())
    }

    @Test("an unreadable file is refused before anything is sent")
    func badFiles() throws {
        let folder = try TemporaryFolder()
        let missing = folder.url.appendingPathComponent("missing")

        #expect(throws: ServiceRequest.Fault.body(.file("missing", reason: "there is no such file"))) {
            try api().resolve(ServiceRequest(.put, "/", body: .file(missing)))
        }
        #expect(
            throws: RequestBody.Fault.file(
                folder.url.lastPathComponent, reason: "it isn't a plain file that can be read")
        ) {
            try RequestBody.file(folder.url).encoded()
        }
        #expect(throws: RequestBody.Fault.file("x", reason: "it isn't a file URL")) {
            try RequestBody.file(#require(URL(string: "https://h/x"))).encoded()
        }
    }

    @Test("in a file that grows, shrinks or goes before it is read fails")
    func changingFiles() async throws {
        let folder = try TemporaryFolder()
        let url = try folder.file("f", "0123456789")
        let encoded = try RequestBody.file(url).encoded()

        try Data("0123456789more".utf8).write(to: url)
        await #expect(throws: RequestBody.Fault.file("f", reason: "it has become longer than 10 bytes")) {
            try await encoded.bytes().all()
        }
        try Data("0123".utf8).write(to: url)
        await #expect(throws: RequestBody.Fault.file("f", reason: "it has become shorter than 10 bytes")) {
            try await encoded.bytes().all()
        }
        try FileManager.default.removeItem(at: url)
        await #expect(throws: RequestBody.Fault.file("f", reason: "there is no such file")) {
            try await encoded.bytes().all()
        }
    }

    @Test("a stream is read once unless it declares replays")
    func streams() async throws {
        let body = RequestBody.stream(HTTPBytes(Data("abc".utf8)))
        let once = try body.encoded()

        #expect(!once.isReplayable && once.length == nil)
        #expect(try await once.bytes().all() == Data("abc".utf8))
        #expect(throws: RequestBody.Fault.usedUp) { try once.bytes() }
        // Also when the same request is sent again.
        #expect(throws: RequestBody.Fault.usedUp) { try body.encoded().bytes() }

        let often = try RequestBody.stream(HTTPBytes(Data("abc".utf8)), isReplayable: true).encoded()
        #expect(often.isReplayable)
        #expect(try await often.bytes().all() + often.bytes().all() == Data("abcabc".utf8))
    }

    @Test("a stream must match its announced length", arguments: [0, 5, 7])
    func streamLengths(length: Int) async throws {
        let pieces = AsyncStream<Data> { continuation in
            for text in ["abc", "", "def"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let encoded = try RequestBody.stream(HTTPBytes(pieces), length: length).encoded()

        await #expect(throws: RequestBody.Fault.length(announced: length, found: length == 0 ? 3 : 6)) {
            try await encoded.bytes().all()
        }
    }

    @Test("a stream of its announced length passes")
    func rightLength() async throws {
        let encoded = try RequestBody.stream(HTTPBytes(Data("abcdef".utf8)), length: 6).encoded()

        #expect(encoded.length == 6)
        #expect(try await encoded.bytes().all() == Data("abcdef".utf8))
    }
}
