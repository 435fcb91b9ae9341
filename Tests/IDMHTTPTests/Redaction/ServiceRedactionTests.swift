import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Redaction", .timeLimit(.ample))
struct ServiceRedactionTests {
    @Test(
        "takes names for secret in whatever way they are written",
        arguments: [
            "Authorization", "PROXY-AUTHORIZATION", "Cookie", "set-cookie", "X-Api-Key", "api_key", "APIKEY",
            "accessToken",
            "client_secret", "Password", "sig", "Signature", "session_id", "code", "key", "X-Auth", "X-Auth-Key",
            "Ocp-Apim-Subscription-Key", "X-Functions-Key", "x_parse_master_key", "DD-Application-Key", "X-Client-Key",
            "DPoP", "X-Authentication", "pin", "pin[]", "user[pin]", "user.pin",
            "client_assertion", "device_code", "user_code", "auth_code", "verification_code", "passcode",
            "SAMLResponse",
            "user[stripe_key]", "user.x-auth-a", "user[password][]",
            "subscriptionKey", "appKey", "clientKey", "signingKey", "masterKey", "SSHKey", "appKEY", "sha256Key",
            "X-JWT", "X-OTP", "X-GitHub-OTP", "X-Pass", "X-PIN", "X-Sid", "X-Bearer", "X-DPoP", "Authentication",
            "ticket", "hmac", "cvv", "userPin", "x_hmac", "card[cvv]",
            "partitionKey", "user[stripeKey]", "user.signingKey[]", "X-AppKey", "x_appKey",
        ])
    func secret(name: String) {
        #expect(ServiceRedaction.standard.isSecret(name))
        #expect(!ServiceRedaction.none.isSecret(name))
    }

    @Test(
        "harmless values aren't redacted",
        arguments: [
            "page", "q", "Accept", "Content-Type", "keyword", "postcode", "signal", "id", "Idempotency-Key", "monkey",
            "X-Author", "X-Idempotency-Key", "spin.x", "country_code", "error_code", "status_code", "client_id",
            "compass", "X-Spin", "ticketing", "Content-Pass-Through", "sidebar",
            "Monkey", "MONKEY", "turkey", "keyWord", "appKeyword", "idempotencyKey", "XIdempotencyKey", "partitionKeys",
        ])
    func plain(name: String) {
        #expect(!ServiceRedaction.standard.isSecret(name))
        #expect(ServiceRedaction.standard.adding([name]).isSecret(name.uppercased()))
    }

    @Test(
        "of a URL leaves out the user and secret values",
        arguments: [
            ("https://u:p@h/x", "https://<redacted>@h/x"), ("https://u:p@q@h/x@y", "https://<redacted>@h/x@y"),
            ("https://h/x@y?a=1&token=2", "https://h/x@y?a=1&token=<redacted>"),
            ("https://h?%74oken=2&&b", "https://h?%74oken=<redacted>&&b"), ("/x?key=1&a", "/x?key=<redacted>&a"),
            ("https://h/x", "https://h/x"), ("?token", "?token"), ("", ""),
            ("https://h/x?a=1#token=2&b=3", "https://h/x?a=1#token=<redacted>&b=3"),
            ("/x#code=1", "/x#code=<redacted>"), ("/x?token=1?2&a=?", "/x?token=<redacted>&a=?"),
            ("/x?next=/y?token=1&a", "/x?next=/y?token=<redacted>&a"),
            ("/x?\u{301}=1&token=3", "/x?\u{301}=1&token=<redacted>"), ("//u:p@h/x", "//<redacted>@h/x"),
            ("/x?next=https://u:p@h&a=1", "/x?next=https://<redacted>@h&a=1"),
            ("/x?next=https%3A%2F%2Fu%3Ap%40h&a=1", "/x?next=<redacted>&a=1"),
            ("/x?next=%2Fy%3Ftoken%3D1&a=%2Fy%3Fb%3D1", "/x?next=<redacted>&a=%2Fy%3Fb%3D1"),
            ("/x?a=1;token=2;b=3&c=4", "/x?a=1;token=<redacted>&c=4"), ("/x;sid=1/y?b=3", "/x;sid=<redacted>"),
            ("<https://u:p@h/>, <https://h/x@y>", "<https://<redacted>@h/>, <https://h/x@y>"),
            ("/x?name=token&value=1", "/x?name=token&value=<redacted>"),
            ("?name=token&value=1", "?name=token&value=<redacted>"), ("/x?value=1&name=page", "/x?value=1&name=page"),
            ("/x?a=b%3Dc", "/x?a=b%3Dc"),
            ("/x?a=token%3D1", "/x?a=<redacted>"), ("/x?a=token%253D1", "/x?a=<redacted>"),
            ("/x?a=%252Fy%253Ftoken%253D1", "/x?a=<redacted>"), ("/x?a=100%25&b=1", "/x?a=100%25&b=1"),
            ("/x?variables=%7B%22password%22%3A%221%22%7D", "/x?variables=<redacted>"),
            ("/x?variables=%7B%22page%22%3A%221%22%7D", "/x?variables=%7B%22page%22%3A%221%22%7D"),
            ("/x?v=%5B%7B%22name%22%3A%22token%22,%22value%22%3A1%7D%5D", "/x?v=<redacted>"),
            ("/x?query=mutation%7BlogIn(password%3A%221%22)%7D", "/x?query=<redacted>"),
            ("/x?at=12%3A30&urn=urn%3Aisbn%3A1", "/x?at=12%3A30&urn=urn%3Aisbn%3A1"),
            ("/x?appKey=1&turkey=2#signingKey=3", "/x?appKey=<redacted>&turkey=2#signingKey=<redacted>"),
        ])
    func urls(url: String, shown: String) {
        #expect(ServiceRedaction.standard.url(url) == shown)
        #expect(ServiceRedaction.none.url(url) == url)
    }
    @Test("of one secret is the same in links, descriptions, cURL lines and records", arguments: Self.pairs)
    func everywhere(name: String, value: String) throws {
        let query: ServiceRequest.Query = ["name": name, "value": value]
        let request = ServiceRequest(.get, "/a", query: query)
        let form = ServiceRequest(.post, "/a", body: .form(query))
        let parts = ServiceRequest(.post, "/a", body: .multipart([.text("name", name), .text("value", value)]))
        let service = try api("https://h")
        let address = try service.resolve(request)
        let link = ServiceRequest(link: address.url)
        let download = ServiceDownload(request, to: .file(URL(fileURLWithPath: "/tmp/x")))
        let texts = [
            "\(request)", try request.curl(for: service), try form.curl(for: service), try parts.curl(for: service),
            "\(address)", "\(link)", try link.curl(for: service),
            "\(ServiceHeaders([.init("Location", "\(address.url)")]))",
            String(decoding: TransferRecord("id", .download(download), .normal)?.encoded() ?? Data(), as: UTF8.self),
        ]
        #expect(texts.filter { $0.contains("s3cret") } == [])
    }

    private static let pairs = [
        ("token", "s3cret"), ("a", "password=s3cret"), ("a", "https://h/?token=s3cret"), ("a", "{\"pin\":\"s3cret\"}"),
    ]

    @Test("deeply nested addresses are redacted")
    func nested() {
        var url = "/x?token=s3cret"
        // Each makes the escapes of those before it longer.
        for _ in 0..<100 { url = "/x?a=\(url.percentEncoded(keeping: .unreserved))" }
        #expect(ServiceRedaction.standard.url(url) == "/x?a=<redacted>")
    }
}
