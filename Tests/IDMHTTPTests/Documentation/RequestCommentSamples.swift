import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

extension Surroundings {
    private static func request(id: String) -> ServiceRequest {
        // sample: a request
        let request = ServiceRequest(.get, "/users/{id}/posts", pathParameters: ["id": id], query: ["page": 2])
        // end
        return request
    }

    private static func links(_ service: HTTPService, from first: Page.Value) async throws -> Page.Value {
        var page = first
        // sample: the next page
        if let next = page.next { page = try await service.fetch(Page(request: ServiceRequest(link: next))) }
        // end
        return page
    }

    private static func query(text: String) -> ServiceRequest.Query {
        // sample: a query
        let query: ServiceRequest.Query = ["q": text, "page": 2, "tags": ["new", "free"], "sort": nil]
        // end
        return query
    }

    private static func queryValue() -> ServiceRequest.Query {
        // sample: a value of a query
        enum Order: String, ServiceQueryValue { case newest, oldest }
        // end
        return ["order": Order.oldest]
    }

    private static func headers() -> ServiceHeaders {
        // sample: a header
        var headers: ServiceHeaders = ["Accept": "application/json"]
        headers[.acceptLanguage] = "en"
        headers.add("Cache-Control", "no-cache")
        // end
        return headers
    }

    private static func body(_ user: User) -> ServiceRequest {
        // sample: a body
        let request = ServiceRequest(.post, "/users", body: .json(user))
        // end
        return request
    }

    private static func multipart(_ photo: URL) -> RequestBody {
        // sample: a body of parts
        let body: RequestBody = .multipart([.text("title", "Sunset"), .file("photo", photo, contentType: "image/jpeg")])
        // end
        return body
    }

    private static func json(_ json: ServiceJSON) -> String? {
        // sample: a piece of JSON
        let name = json["user"]["names"][0].string
        // end
        return name
    }

    private static func bytes(_ stream: ServiceStream, into file: FileHandle) async throws {
        // sample: a body in pieces
        for try await piece in stream.bytes { try file.write(contentsOf: piece) }
        // end
    }

    @Suite("The samples of the comments on requests", .timeLimit(.ample))
    struct RequestCommentSamples {
        @Test("a request, a query and a value become their URL")
        func urls() throws {
            let api = try api()
            let url = try api.resolve(request(id: "7")).url.absoluteString

            #expect(url == "https://api.example.com/v1/users/7/posts?page=2")
            #expect(
                try api.url("/a", query: query(text: "b&c"))
                    == "https://api.example.com/v1/a?q=b%26c&page=2&tags=new&tags=free")
            #expect(try api.url("/a", query: queryValue()) == "https://api.example.com/v1/a?order=oldest")
        }

        @Test("the next page follows its link, and the last page stays")
        func pages() async throws {
            let transport = StubTransport(answer: .json(#"{"names": ["b"]}"#))
            let service = HTTPService(configuration: try api(), transport: transport)
            let last = try await links(service, from: Page.Value(names: ["a"], next: URL(string: "/v1/list?page=2")))

            #expect(last.names == ["b"])
            #expect(try await links(service, from: last).names == ["b"])
            #expect(transport.requests.map(\.url.absoluteString) == ["https://api.example.com/v1/list?page=2"])
        }

        @Test("headers and bodies contain their values")
        func content() async throws {
            #expect(headers().map(\.value) == ["application/json", "en", "no-cache"])
            let sent = try api().resolve(body(User(name: "Ada")))
            #expect(sent.body?.data == Data(#"{"name":"Ada"}"#.utf8))
            let folder = try TemporaryFolder()
            let parts = ServiceRequest(.post, "/a", body: multipart(try folder.file("a.jpg", "pixels")))
            let text = String(decoding: try await api().resolve(parts).body?.bytes().all() ?? Data(), as: UTF8.self)
            #expect(text.contains("Sunset") && text.contains("image/jpeg") && text.contains("pixels"))
        }

        @Test("JSON is followed to its end, and a body goes into a file")
        func reading() async throws {
            #expect(json(.object(["user": .object(["names": .array([.string("Ada")])])])) == "Ada")
            #expect(json(.null) == nil)
            let folder = try TemporaryFolder()
            let file = try folder.file("log", "")
            let handle = try FileHandle(forWritingTo: file)
            try await bytes(ServiceStream(bytes: HTTPBytes(Data("lines".utf8))), into: handle)
            try handle.close()
            #expect(try Data(contentsOf: file) == Data("lines".utf8))
        }
    }
}
