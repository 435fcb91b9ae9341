import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Headers of downloads", .timeLimit(.ample))
struct DownloadHeaderTests {
    @Test(
        "The name in a Content-Disposition is found as RFC 6266 has it",
        arguments: [
            ("attachment; filename=example.html", "example.html"),
            (#"INLINE; FILENAME= "an example.html""#, "an example.html"),
            ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "€ rates"),
            (#"attachment; filename="EURO rates"; filename*=utf-8''%e2%82%ac%20rates"#, "€ rates"),
            (#"attachment; filename*=utf-8''%e2%82%ac; filename="EURO""#, "€"),
            (#"attachment; filename="a\"b\\c""#, #"a"b\c"#), (#"attachment; filename="a;b=c""#, "a;b=c"),
            ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
            (#"attachment; filename="../../x""#, "../../x"), ("attachment;filename=x", "x"),
            ("attachment; ; filename = x ; size=3", "x"), (#"attachment; a="b"; filename=x"#, "x"),
            (#"attachment; filename*=utf-8''%ff; filename=x"#, "x"), ("a; filename*=utf-8''\u{301}x", "\u{301}x"),
            ("attachment; filename*=utf-8''%4; filename=x", "x"),
            ("attachment; filename*=utf-7''a; filename=x", "x"), ("attachment; filename=\"\"", ""),
        ])
    func disposition(header: String, name: String) {
        #expect(ContentDisposition.fileName(in: header) == name)
    }

    @Test(
        "A header that holds no name has none",
        arguments: [
            "", "attachment", "attachment;", #"attachment; filename="x"#, "attachment; filename", "filename=x",
            #"attachment; filename="x\"#, "attachment; name=x", "attachment; filename*=x", ";;;", "=;=",
        ])
    func noDisposition(header: String) {
        #expect(ContentDisposition.fileName(in: header) == nil)
    }

    @Test("A Content-Range says which part of a whole it is")
    func range() {
        #expect(ContentRange("bytes 0-0/1") == ContentRange(first: 0, last: 0, total: 1))
        #expect(ContentRange("Bytes 100-199/1000") == ContentRange(first: 100, last: 199, total: 1000))
        #expect(ContentRange("bytes 5-9/*") == ContentRange(first: 5, last: 9, total: nil))
    }

    @Test(
        "What can't be a part of anything is no range",
        arguments: [
            "", "bytes", "bytes */10", "bytes 5-4/10", "bytes 5-10/10", "bytes 5-/10", "bytes -5/10", "bytes 0-4/",
            "items 0-4/10", "bytes 0-4/ten", "bytes +0-4/10", "bytes 0-4", "bytes 0-9223372036854775807/*",
            "bytes 0-99999999999999999999/*", "bytes=0-4/10", "bytes 0-4/10 x", "bytes 0-4/10/10", "bytes ٠-٤/١٠",
        ])
    func noRange(header: String) {
        #expect(ContentRange(header) == nil)
    }

    @Test("Only what stands for the bytes of an object is a strong validator")
    func validators() {
        let date = "Tue, 15 Nov 1994 12:45:26 GMT"
        let before = "Tue, 15 Nov 1994 12:45:25 GMT"
        #expect((["ETag": "\"a\""] as ServiceHeaders).strongValidator == "\"a\"")
        #expect(
            (["Etag": "\"a\"", "Last-Modified": before, "Date": date] as ServiceHeaders).strongValidator == "\"a\"")
        #expect((["Last-Modified": before, "Date": date] as ServiceHeaders).strongValidator == before)
        let weak: [ServiceHeaders] = [
            [:], ["ETag": "W/\"a\""], ["ETag": "a"], ["ETag": "\""], ["ETag": "\"a\r\nb\""], ["Last-Modified": before],
            ["Last-Modified": date, "Date": date], ["Last-Modified": "yesterday", "Date": date],
            ["ETag": "W/\"a\"", "Last-Modified": before, "Date": date], ["ETag": "\"a\"", "Content-Encoding": "gzip"],
        ]
        for headers in weak { #expect(headers.strongValidator == nil, "\(headers)") }
    }
}
