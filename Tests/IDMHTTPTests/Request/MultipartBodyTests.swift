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
        let body = MultipartBody(
            [
                .text("title", "Sun"), .data("raw", Data("bytes".utf8), fileName: "b.bin"),
                .data("json", Data("{}".utf8), contentType: "application/json"),
                .file("f", file, contentType: "text/plain"),
            ], boundary: "B")

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
        #expect(try await text(MultipartBody([], boundary: "B")) == "--B--\r\n")
    }

    @Test(
        "lets no name out of its quotes",
        arguments: [
            ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("a\\\"", "a\\%22"), ("é 👩‍🚀", "é 👩‍🚀"),
            ("\0\u{7F}\t", "%00%7F%09"),
            ("a;b=c", "a;b=c"), ("%22", "%22"),
        ])
    func names(name: String, escaped: String) async throws {
        let text = try await text(MultipartBody([.data(name, Data(), fileName: name)], boundary: "B"))

        #expect(text.contains("name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"))
    }

    @Test("takes names of any length")
    func longNames() async throws {
        let name = String(repeating: "\"", count: 65_536)

        #expect(try await text(MultipartBody([.text(name, "x")], boundary: "B")).utf8.count > 3 * 65_536)
    }

    @Test("a part type that would break its header is refused")
    func badTypes() {
        let body = RequestBody.multipart([.data("a", Data(), contentType: "a/b\r\nX: y")])

        #expect(throws: RequestBody.Fault.contentType) { try body.encoded() }
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
