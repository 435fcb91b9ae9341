import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A query", .timeLimit(.ample))
struct QueryTests {
    @Test("a query is made without arguments")
    func nothing() {
        #expect(ServiceRequest.Query().items.isEmpty)
    }

    private enum Order: String, ServiceQueryValue { case newest, oldest }

    @Test("a query keeps order and repeated names")
    func order() {
        let query: ServiceRequest.Query = ["b": "1", "a": "2", "b": "3"]

        #expect(query.encodedForURL() == "b=1&a=2&b=3")
    }

    @Test("takes text, numbers, truth values, enumerations and lists")
    func kinds() {
        let text: String? = "x"
        let nothing: Int? = nil
        let page = 2
        let query: ServiceRequest.Query = [
            "text": text, "nothing": nothing, "nil": nil, "empty": "", "page": page, "half": 0.5, "flag": true,
            "order": Order.oldest, "tags": ["a", "b"], "none": [String](), "some": [1, nil, 3] as [Int?],
        ]

        #expect(
            query.encodedForURL()
                == "text=x&empty=&page=2&half=0.5&flag=true&order=oldest&tags=a&tags=b&some=1&some=3")
    }

    @Test("takes numbers of every width, and identifiers")
    func widths() throws {
        let id = try #require(UUID(uuidString: "00000000-0000-0000-0000-00000000000A"))
        let query: ServiceRequest.Query = [
            "a": Int8.min, "b": Int16.min, "c": UInt8.max, "d": UInt16.max, "e": UInt32.max, "id": id,
        ]

        #expect(
            query.encodedForURL()
                == "a=-128&b=-32768&c=255&d=65535&e=4294967295&id=00000000-0000-0000-0000-00000000000A")
    }

    @Test(
        "escapes everything that could be taken for something else",
        arguments: [
            ("a+b", "a%2Bb"), ("a&b", "a%26b"), ("a=b", "a%3Db"), ("a;b", "a%3Bb"), ("a%b", "a%25b"), ("a b", "a%20b"),
            ("a#b", "a%23b"), ("a?b/c", "a%3Fb%2Fc"), ("é", "%C3%A9"), ("\r\n\0", "%0D%0A%00"),
            ("'\"<>[]", "%27%22%3C%3E%5B%5D"),
            ("-._~", "-._~"), ("a,b", "a%2Cb"),
        ])
    func escapes(text: String, expected: String) {
        #expect(ServiceRequest.Query([.init(text, text)]).encodedForURL() == "\(expected)=\(expected)")
    }

    @Test("writes lists in three ways")
    func lists() {
        var query: ServiceRequest.Query = ["t": ["a", "b,c"], "none": [Int](), "one": "x"]

        #expect(query.encodedForURL() == "t=a&t=b%2Cc&one=x")
        query.listStyle = .brackets
        #expect(query.encodedForURL() == "t%5B%5D=a&t%5B%5D=b%2Cc&one=x")
        query.listStyle = .commas
        #expect(query.encodedForURL() == "t=a,b%2Cc&one=x")
    }

    @Test("a query changes by name")
    func changes() {
        var query: ServiceRequest.Query = ["a": "1", "b": "2", "a": "3"]

        query["a"] = 4
        #expect(query == ["a": 4, "b": "2"])
        query["c"] = ["5"]
        query.add("b", "6")
        #expect(query.encodedForURL() == "a=4&b=2&c=5&b=6")
        #expect(query["a"]?.queryContent == .single("4"))
        #expect(query["c"]?.queryContent == .list(["5"]))
        query["b"] = nil
        #expect(query == ["a": 4, "c": ["5"]])
        #expect(query["none"] == nil)
    }

    @Test("of a form has its own escapes")
    func form() {
        let query: ServiceRequest.Query = ["a b": "c+d e*f~g", "é": "&="]

        #expect(query.encodedForForm() == "a+b=c%2Bd+e*f%7Eg&%C3%A9=%26%3D")
    }

    @Test("shows no address that has a secret in it, by whatever name")
    func addresses() {
        let address = "https://app/cb?token=s3cret"
        let query: ServiceRequest.Query = [
            "redirect_uri": address, "all": ["https://app/", "https://ada:s3cret@app/"], "next": "/home?page=2",
        ]

        #expect("\(query)" == "redirect_uri=<redacted>&all=https%3A%2F%2Fapp%2F&all=<redacted>&next=%2Fhome%3Fpage%3D2")
        #expect(!query.encodedForForm(redacted: .standard).contains("s3cret"))
        #expect(query.encodedForURL().contains("s3cret"))
    }

    @Test("shows no secrets, however it is shown")
    func secrets() {
        let query: ServiceRequest.Query = [
            "access_token": "s3cret", "apiKey": "s3cret", "api_key": ["s3cret", "s3cret"], "password": "s3cret",
            "X-Amz-Signature": "s3cret", "code": "s3cret", "page": 2,
        ]
        let request = ServiceRequest(.get, "/x", query: query)
        var dumped = ""
        dump(query, to: &dumped)
        dump(request, to: &dumped)
        dump(query.items, to: &dumped)

        for text in [
            "\(query)", "\(query.items)", String(reflecting: query), dumped, "\(request)", String(reflecting: request),
        ] {
            #expect(!text.contains("s3cret"))
            #expect(text.contains("page=2"))
        }
    }
}
