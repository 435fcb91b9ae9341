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
            "partitionKey", "user[stripeKey]", "user.signingKey[]", "X-AppKey", "x_appKey",
        ])
    func secret(name: String) {
        #expect(ServiceRedaction.standard.isSecret(name))
        #expect(!ServiceRedaction.none.isSecret(name))
    }

    @Test(
        "leaves what is plain",
        arguments: [
            "page", "q", "Accept", "Content-Type", "keyword", "postcode", "signal", "id", "Idempotency-Key", "monkey",
            "X-Author", "X-Idempotency-Key", "spin.x", "country_code", "error_code", "status_code", "client_id",
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
            ("/x?appKey=1&turkey=2#signingKey=3", "/x?appKey=<redacted>&turkey=2#signingKey=<redacted>"),
        ])
    func urls(url: String, shown: String) {
        #expect(ServiceRedaction.standard.url(url) == shown)
        #expect(ServiceRedaction.none.url(url) == url)
    }
    @Test("of addresses in one another looks at a few, and shows none that are deeper")
    func nested() {
        var url = "/x?token=s3cret"
        // Each makes the escapes of those before it longer.
        for _ in 0..<100 { url = "/x?a=\(url.percentEncoded(keeping: .unreserved))" }
        #expect(ServiceRedaction.standard.url(url) == "/x?a=<redacted>")
    }
}
