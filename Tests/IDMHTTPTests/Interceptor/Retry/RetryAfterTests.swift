import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A Retry-After", .timeLimit(.ample))
struct RetryAfterTests {
    @Test(
        "Retry-After is read as seconds or a date",
        arguments: [
            ("0", .zero), ("120", .seconds(120)), (" 7 ", .seconds(7)), ("-1", nil), ("1.5", nil), ("1e3", nil),
            ("", nil),
            ("99999999999999999999999999", .seconds(3_155_760_000)), ("soon", nil), ("٣", nil),
            ("Thu, 01 Jan 1970 00:02:00 GMT", .seconds(20)), ("Thu, 01 Jan 1970 00:01:00 GMT", .zero),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(253_402_300_799 - 100)),
        ] as [(String, Duration?)])
    func values(text: String, wait: Duration?) {
        #expect(RetryAfter.wait(["retry-after": text], now: 100) == wait)
    }

    @Test("Retry-After uses the server's clock if it is known")
    func serverClock() {
        let headers: ServiceHeaders = [
            "Date": "Thu, 01 Jan 1970 00:00:30 GMT", "Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT",
        ]
        #expect(RetryAfter.wait(headers, now: 5_000) == .seconds(30))
        #expect(RetryAfter.wait([:], now: 0) == nil)
    }
}
