import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A cURL command", .timeLimit(.ample))
struct CurlTests {
    /// The words that a shell makes of a command, with what comes in by a pipe at the end.
    private func words(_ request: ServiceRequest, _ service: ServiceConfiguration) throws -> [String] {
        let command = try request.curl(for: service, redacted: ServiceRedaction.none)
        let input = command.contains("| curl") ? "; cat" : ""
        let data = try output(of: "curl() { printf '%s\\0' \"$@\"\(input); }\n\(command)")
        return data.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What a shell writes that runs a script. Not through Foundation's `Process`: in a process with some 1,350 open
    /// descriptors it reads behind the end of their list.
    private func output(of script: String) throws -> Data {
        let shell = try #require(popen(script, "r"))
        let data = FileHandle(fileDescriptor: fileno(shell), closeOnDealloc: false).readDataToEndOfFile()
        #expect(pclose(shell) == 0)
        return data
    }

    @Test("doesn't show a secret of the path, and neither does a description")
    func secretPath() throws {
        let request = ServiceRequest(
            .get, "/files/{token}/{page}", pathParameters: ["token": "s3cret", "page": "1"])
        #expect(try request.curl(for: api()).contains("'https://api.example.com/v1/files/redacted/1'"))
        #expect("\(request)" == "GET /files/redacted/1")
        #expect(try words(request, api()).contains("https://api.example.com/v1/files/s3cret/1"))

        let address = ServiceRequest(.get, "/open/{url}", pathParameters: ["url": "https://app/cb?token=s3cret"])
        #expect("\(address)" == "GET /open/redacted")
        #expect("\(try api().resolve(address))" == "GET https://api.example.com/v1/open/redacted")
        #expect(try !address.curl(for: api()).contains("s3cret"))
    }

    @Test("reads well")
    func layout() throws {
        let request = ServiceRequest(
            .post, "/users/{id}", pathParameters: ["id": "4 2"], query: ["page": 1, "token": "s3cret"],
            headers: ["Accept": "text/html", "Authorization": "Bearer s3cret"], body: .json(["name": "Ada"]))

        #expect(
            try request.curl(for: api()) == """
                curl --request 'POST' \\
                    'https://api.example.com/v1/users/4%202?page=1&token=<redacted>' \\
                    --header 'Content-Type: application/json' \\
                    --header 'Accept: text/html' \\
                    --header 'Authorization: <redacted>' \\
                    --data-raw '{"name":"Ada"}'
                """)
        #expect(try ServiceRequest(.head, "/").curl(for: api("https://h")) == "curl --head \\\n    'https://h/'")
    }

    @Test("gives a shell the words that it means, whatever is in them")
    func quoting() throws {
        let nasty = "it's $HOME `id` \"x\" \\ !\n*"
        let request = ServiceRequest(
            .post, "/{p}", pathParameters: ["p": nasty], query: ["q": nasty], headers: ["X": "'; id #", "Empty": ""],
            body: .text(nasty))

        let words = try words(request, api("https://h"))
        #expect(Array(words.prefix(2)) == ["--request", "POST"])
        #expect(URL(string: words[2])?.lastPathComponent == nasty)
        #expect(words.contains("X: '; id #") && words.contains("Empty;"))
        #expect(Array(words.suffix(3)) == ["--data-raw", nasty, ""])
    }

    @Test(
        "lets no quote out that is drawn together with its neighbours",
        arguments: ["x'\u{301}; id; #", "x\u{D4E}'; id; #", "x\"\u{301};type=a\u{D4E}\"\\\u{301}"])
    func joinedQuotes(nasty: String) throws {
        let parts: RequestBody = .multipart([.text("a", nasty), .data("d", Data(), fileName: nasty)])
        let words = try words(ServiceRequest(.post, "/", body: .text(nasty)), api("https://h"))
        #expect(Array(words.suffix(3)) == ["--data-raw", nasty, ""])
        let forms = try self.words(ServiceRequest(.post, "/", body: parts), api("https://h"))
        // As curl reads it: what stands behind a backslash is itself.
        let quoted = nasty.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined()
        #expect(
            Array(forms.suffix(5)) == [
                "--form-string", "a=\(nasty)", "--form",
                "d=@\"<0 bytes>\";type=application/octet-stream;filename=\"\(quoted)\"", "",
            ])
    }

    @Test("a body that isn't text is piped into curl")
    func binary() throws {
        let words = try words(ServiceRequest(.post, "/", body: .bytes(Data([0xFF, 0x41, 0x42]))), api())

        #expect(Array(words.suffix(3).prefix(2)) == ["--data-binary", "@-"])
        #expect(words.last?.hasSuffix("AB") == true)
    }

    @Test("names files, reads streams from its input, and takes a multipart body apart")
    func bodies() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("it's \"f\"", "content")

        #expect(try words(ServiceRequest(.put, "/", body: .file(file)), api()).contains("@\(file.path)"))
        #expect(try words(ServiceRequest(.put, "/", body: .stream(HTTPBytes(Data()))), api()).contains("@-"))
        let multipart = try words(
            ServiceRequest(.post, "/", body: .multipart([.text("a", "@b"), .file("f", file), .data("d", Data([1]))])),
            api())
        #expect(!multipart.contains { $0.hasPrefix("Content-Type") })
        #expect(multipart.contains("a=@b"))
        let quoted = file.path.replacing("\"", with: "\\\"")
        #expect(
            multipart.contains(
                "f=@\"\(quoted)\";type=application/octet-stream;filename=\"it's \\\"f\\\"\""))
        #expect(multipart.contains("d=@\"<1 bytes>\";type=application/octet-stream"))
    }

    @Test(
        "holds no secret unless it is asked to",
        arguments: [
            .json(["user": "ada", "password": "s3cret"]), .json([["nested": ["access_token": "s3cret"]]]),
            .form(["grant_type": "password", "client_secret": "s3cret"]), .text("s3cret"), .bytes(Data("s3cret".utf8)),
            .json("s3cret"), .multipart([.text("password", "s3cret")]),
            .json([["value": "s3cret", "name": "token"]]), .form(["value": "s3cret", "name": "token", "page": 1]),
            .custom(contentType: "x/y") { Data("s3cret".utf8) },
            .json(["next": ["https://app/cb?token=s3cret"]]), .form(["next": "https://app/cb?token=s3cret"]),
            .multipart([.text("next", "https://app/cb?token=s3cret")]),
            .json([["path": "password", "value": "s3cret"]]), .form(["param": "password", "input": "s3cret"]),
        ] as [RequestBody])
    func secrets(body: RequestBody) throws {
        let request = ServiceRequest(
            .post, "/", query: ["api_key": "s3cret"], headers: ["Cookie": "s3cret", "X-Api-Key": "s3cret"], body: body)
        let service = try api("https://h/?key=s3cret", headers: ["Authorization": "s3cret"])

        #expect(try !request.curl(for: service).contains("s3cret"))
        #expect(try request.curl(for: service, redacted: ServiceRedaction.none).contains("s3cret"))
    }

    @Test("a harmless body is kept")
    func plainFields() throws {
        let request = ServiceRequest(.post, "/", body: .json(["user": "ada", "password": "s3cret"]))

        #expect(try request.curl(for: api()).contains(#"'{"password":"<redacted>","user":"ada"}'"#))
    }

    @Test("an invalid request makes no command")
    func faults() throws {
        #expect(throws: ServiceRequest.Fault.missingParameter("id", template: "/{id}")) {
            try ServiceRequest(.get, "/{id}").curl(for: api())
        }
    }
}
