import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A multipart body", .fewAtOnce, .timeLimit(.ample))
struct MultipartBodyTests {
    private func text(_ body: MultipartBody) async throws -> String {
        let encoded = try RequestBody.multipart(body).encoded()
        let data = try await encoded.bytes().all()
        #expect(encoded.length == data.count)
        return String(decoding: data, as: UTF8.self)
    }

    @Test("holds its parts between boundaries")
    func parts() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a.txt", "file")
        let body = MultipartBody([
            .text("title", "Sun"), .data("raw", Data("bytes".utf8), fileName: "b.bin"),
            .data("json", Data("{}".utf8), contentType: "application/json"),
            .file("f", file, contentType: "text/plain"),
        ]) { "B" }

        #expect(
            try await text(body) == """
                --B\r\nContent-Disposition: form-data; name="title"\r\n\r\nSun\r\n\
                --B\r\nContent-Disposition: form-data; name="raw"; filename="b.bin"\r\n\
                Content-Type: application/octet-stream\r\n\r\nbytes\r\n\
                --B\r\nContent-Disposition: form-data; name="json"\r\nContent-Type: application/json\r\n\r\n{}\r\n\
                --B\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nfile\r\n\
                --B--\r\n
                """)
    }

    @Test("of no parts is the end alone")
    func empty() async throws {
        #expect(try await text(MultipartBody([]) { "B" }) == "--B--\r\n")
    }

    @Test(
        "lets no name out of its quotes",
        arguments: [
            ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("a\\\"", "a\\%22"), ("é 👩‍🚀", "é 👩‍🚀"),
            ("\0\u{7F}\t", "%00%7F%09"),
            ("a;b=c", "a;b=c"), ("%22", "%22"),
        ])
    func names(name: String, escaped: String) async throws {
        let text = try await text(MultipartBody([.data(name, Data(), fileName: name)]) { "B" })

        #expect(text.contains("name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"))
    }

    @Test("takes names of any length")
    func longNames() async throws {
        let name = String(repeating: "\"", count: 65_536)

        #expect(try await text(MultipartBody([.text(name, "x")]) { "B" }).utf8.count > 3 * 65_536)
    }

    @Test("a part type that would break its header is refused")
    func badTypes() {
        let body = RequestBody.multipart([.data("a", Data(), contentType: "a/b\r\nX: y")])

        #expect(throws: RequestBody.Fault.contentType) { try body.encoded() }
    }

    @Test("a boundary that occurs in a part is replaced")
    func collisions() async throws {
        var boundaries = ["one", "two", "three"].makeIterator()
        let body = MultipartBody([.text("a", "--one--"), .text("two", "b")]) { boundaries.next() ?? "end" }

        #expect(body.boundary == "three")
        #expect(MultipartBody([]).boundary != MultipartBody([]).boundary)
    }

    @Test("the content type names the boundary")
    func contentType() throws {
        let body = MultipartBody([.text("a", "b")])
        let request = ServiceRequest(.post, "/", body: .multipart(body))

        #expect(try api().resolve(request).headers[.contentType] == "multipart/form-data; boundary=\(body.boundary)")
        var own = request
        own.headers[.contentType] = "multipart/form-data"
        #expect(throws: ServiceRequest.Fault.body(.contentTypeOfMultipart)) { try api().resolve(own) }
    }

    @Test("with a file that isn't there is refused before anything is sent")
    func missingFile() throws {
        let missing = try TemporaryFolder().url.appendingPathComponent("missing")

        #expect(throws: RequestBody.Fault.file("missing", reason: "there is no such file")) {
            try RequestBody.multipart([.file("f", missing)]).encoded()
        }
    }
}

@Suite("The search for a boundary", .timeLimit(.ample))
struct BoundarySearchTests {
    @Test("the byte search finds each occurrence and nothing else")
    func everywhere() {
        for (text, word, isThere) in [
            ("abcabd", "abd", true), ("abcabc", "abd", false), ("aaab", "aab", true), ("ab", "ab", true),
            ("a", "ab", false), ("", "a", false), ("a", "", true), ("", "", true), ("xab", "ab", true),
            ("abx", "ab", true), ("aabaa", "abaa", true),
        ] {
            #expect(Data(text.utf8).holds(Array(word.utf8)) == isThere, "\(word) in \(text)")
        }
    }

    @Test("agrees with a plain one on everything short")
    func agrees() {
        // All texts and words of two letters: 0 to 7 of the one, 1 to 3 of the other.
        for length in 0...7 {
            for bits in 0..<(1 << length) {
                let text = (0..<length).map { UInt8(bits >> $0 & 1) }
                for count in 1...3 {
                    for pattern in 0..<(1 << count) {
                        let word = (0..<count).map { UInt8(pattern >> $0 & 1) }
                        let isThere = text.indices.contains { text[$0...].starts(with: word) }
                        #expect(Data(text).holds(word) == isThere)
                        // A slice of something longer is looked at alone.
                        #expect((Data([0, 1, 0] + text).dropFirst(3)).holds(word) == isThere)
                    }
                }
            }
        }
    }
}
