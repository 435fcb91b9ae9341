import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Headers", .timeLimit(.ample))
struct ServiceHeadersTests {
    @Test("header names ignore case")
    func caseInsensitive() {
        let headers: ServiceHeaders = ["Etag": "1", "x-request-ID": "2"]

        #expect(headers[.eTag] == "1")
        #expect(headers["ETAG"] == "1")
        #expect(headers["X-Request-Id"] == "2")
        #expect(headers["X-Request"] == nil)
        #expect(headers.map(\.name.spelling) == ["Etag", "x-request-ID"])
    }

    @Test("header names compare ASCII only")
    func asciiOnly() {
        #expect(ServiceHeaders.Name("\u{212A}ey") != "key")
        #expect(ServiceHeaders.Name("KEY") == "key")
    }

    @Test("keep their order, and repeat")
    func repeated() {
        var headers: ServiceHeaders = ["A": "1", "B": "2", "a": "3"]
        headers.add("B", "4")

        #expect(headers["a"] == "1, 3")
        #expect(headers.values(of: "b") == ["2", "4"])
        #expect(headers.map(\.value) == ["1", "2", "3", "4"])
        #expect(headers.count == 4)
    }

    @Test("replace all of a name at the place of the first")
    func replaced() {
        var headers: ServiceHeaders = ["A": "1", "B": "2", "a": "3"]

        headers["A"] = "4"
        #expect(headers == ["A": "4", "B": "2"])
        headers["C"] = "5"
        #expect(headers == ["A": "4", "B": "2", "C": "5"])
        headers["a"] = nil
        #expect(headers == ["B": "2", "C": "5"])
        headers.remove("c")
        #expect(headers == ["B": "2"])
        headers["none"] = nil
        #expect(headers == ["B": "2"])
    }

    @Test("of two parts are the upper one's where both have a name")
    func merged() {
        let lower: ServiceHeaders = ["Accept": "a", "X": "1", "accept": "b"]
        let upper: ServiceHeaders = ["ACCEPT": "c", "Y": "2", "Y": "3"]

        #expect(lower.merging(upper) == ["X": "1", "ACCEPT": "c", "Y": "2", "Y": "3"])
        #expect(lower.merging([:]) == lower)
    }

    @Test("show no secrets, however they are shown")
    func secrets() {
        let headers: ServiceHeaders = [
            "Authorization": "Bearer s3cret", "Proxy-Authorization": "s3cret", "Cookie": "s3cret",
            "Set-Cookie": "s3cret",
            "X-API-Key": "s3cret", "x_auth_token": "s3cret", "Accept": "text/html",
            "Location": "https://user:s3cret@host/?token=s3cret&page=2", "X-Back": "/cb#access_token=s3cret",
            "Link": "<//a:s3cret@h/>; rel=next, <//b:s3cret@h/>; rel=prev",
        ]
        var dumped = ""
        dump(headers, to: &dumped)

        for text in ["\(headers)", String(reflecting: headers), dumped] {
            #expect(!text.contains("s3cret"))
            #expect(text.contains("Accept: text/html"))
            #expect(text.contains("page=2"))
        }
        #expect(headers.description(redacted: .none).contains("Bearer s3cret"))
    }

    @Test("a single field shows no secret")
    func secretFields() {
        let field = ServiceHeaders.Field("X-Tenant", "s3cret", isSecret: true)
        var dumped = ""
        dump(field, to: &dumped)

        #expect("\(field)" == "X-Tenant: <redacted>" && "\(ServiceHeaders.Field("A", "b"))" == "A: b")
        #expect(!dumped.contains("s3cret") && !String(reflecting: [field]).contains("s3cret"))
    }

    @Test("keep a value secret that is marked so, wherever it goes")
    func marked() throws {
        var headers: ServiceHeaders = ["X-Tenant": "old", "Accept": "x"]
        headers.setSecret("x-tenant", "s3cret")
        let merged = (["A": "1"] as ServiceHeaders).merging(headers)

        #expect(headers.values(of: "X-Tenant") == ["s3cret"])
        #expect(!merged.description.contains("s3cret") && merged.description.contains("Accept: x"))
        let request = ServiceRequest(.get, "/", headers: merged)
        #expect(try !request.curl(for: api()).contains("s3cret"))
        #expect(try request.curl(for: api(), redacted: ServiceRedaction.none).contains("s3cret"))
        #expect(try api().resolve(request).headers["X-Tenant"] == "s3cret")
    }

    @Test(
        "of a request are refused where their name is none",
        arguments: ["", " ", "A B", "A:", "A\r\nB", "Ä", "A\0", "(x)"])
    func badNames(name: String) throws {
        let request = ServiceRequest(.get, "/", headers: ServiceHeaders([.init(.init(name), "value")]))

        #expect(throws: ServiceRequest.Fault.headerName(name.escapedForDescription())) { try api().resolve(request) }
    }

    @Test(
        "a header value with control characters is refused",
        arguments: [
            ("a\r\nB: c", 13, 1), ("a\nb", 10, 1), ("\r", 13, 0), ("a\0", 0, 1), ("a\r\n b", 13, 1),
            ("ab\u{7F}", 127, 2),
            ("\u{1B}[0m", 27, 0), ("é", 0xC3, 0), ("Ċ", 0xC4, 0),
        ] as [(String, UInt8, Int)])
    func badValues(value: String, byte: UInt8, place: Int) throws {
        let request = ServiceRequest(.get, "/", headers: ["X": value])

        #expect(throws: ServiceRequest.Fault.headerValue("X", byte: byte, at: place)) { try api().resolve(request) }
    }

    @Test("hold every byte of printable ASCII, and the tab")
    func goodValues() throws {
        let value = String(decoding: (32...126).map(UInt8.init) + [9], as: UTF8.self)

        #expect(try api().resolve(ServiceRequest(.get, "/", headers: ["X": value])).headers["X"] == value)
        #expect(try api().resolve(ServiceRequest(.get, "/", headers: ["X": ""])).headers["X"] == "")
    }

    @Test(
        "the transport's own headers are refused",
        arguments: [
            "Host", "content-length", "TRANSFER-ENCODING", "Connection", "Upgrade", "TE", "Trailer", "Expect",
            "HTTP2-Settings",
        ])
    func reserved(name: String) throws {
        let name = ServiceHeaders.Name(name)
        let request = ServiceRequest(.get, "/", headers: [name: "x"])

        #expect(throws: ServiceRequest.Fault.reservedHeader(name)) { try api().resolve(request) }
        #expect(throws: ServiceRequest.Fault.reservedHeader(name)) {
            try api(headers: [name: "x"]).resolve(ServiceRequest(.get, "/"))
        }
    }

    @Test("a header fault names the problem without the value")
    func faultsHoldNoValues() throws {
        let request = ServiceRequest(.get, "/", headers: ["Authorization": "s3cret\n"])

        let fault = #expect(throws: ServiceRequest.Fault.self) { try api().resolve(request) }
        #expect(
            fault?.description
                == "The value of the header Authorization holds the byte 10 at 6, which has no place there.")
        #expect(String(reflecting: fault).contains("s3cret") == false)
    }
}
