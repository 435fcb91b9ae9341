import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A date of HTTP", .timeLimit(.ample))
struct HTTPDateTests {
    @Test(
        "a date is read in all three forms",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Fri, 31 Dec 1999 23:59:59 GMT", 946_684_799),
            ("Wed, 01-Jan-69 00:00:00 GMT", 3_124_224_000), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ])
    func forms(text: String, seconds: Int) {
        #expect(HTTPDate(text)?.seconds == seconds)
        #expect(HTTPDate.ofCookie(text)?.seconds == seconds)
    }

    @Test(
        "of a cookie is read however it is written",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06-Nov-1994 08:49:37 UTC", "sun, 6 NOV 1994 08:49:37 GMT+0000",
            "08:49:37 1994 6 november", "Sunday, 06-Nov-94 08:49:37 -0000",
        ])
    func cookies(text: String) {
        #expect(HTTPDate.ofCookie(text)?.seconds == 784_111_777)
    }

    @Test(
        "a cookie date with a missing or impossible part is refused",
        arguments: [
            "", "0", "Sun, 06 Nov 1994", "06 1994 08:49:37", "Nov 1994 08:49:37", "06 Nov 08:49:37",
            "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "06 Nov 1994 25:49:37", "06 Nov 1994 08:49",
            "06 Nov 19945 08:49:37",
        ])
    func noCookies(text: String) {
        #expect(HTTPDate.ofCookie(text) == nil)
    }

    @Test(
        "an invalid date is refused",
        arguments: [
            "", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nop 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT",
            "Sun, 6e1 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
            "Mon, 31 Feb 1994 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT", "Wed, 29 Feb 1900 08:49:37 GMT",
            "Thu, 31 Apr 2024 08:49:37 GMT", "Sun, 06 Nov 1994 ::: GMT", "1994-11-06T08:49:37Z",
        ])
    func garbage(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test("a date equals the calendar's over four centuries")
    func calendar() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for seconds in stride(from: -2_000_000_000, through: 10_000_000_000, by: 9_876_543) {
            let text = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            #expect(HTTPDate(text)?.seconds == seconds, "\(text)")
        }
    }
}
