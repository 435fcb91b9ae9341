import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A date of HTTP", .timeLimit(.ample))
struct HTTPDateTests {
    @Test(
        "is read in each of its three forms",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Fri, 31 Dec 1999 23:59:59 GMT", 946_684_799),
            ("Wed, 01-Jan-69 00:00:00 GMT", 3_124_224_000), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ])
    func forms(text: String, seconds: Int) {
        #expect(HTTPDate(text)?.seconds == seconds)
    }

    @Test(
        "is none where it is none",
        arguments: [
            "", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nop 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT",
            "Sun, 6e1 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 ::: GMT", "1994-11-06T08:49:37Z",
        ])
    func garbage(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test("is the same as the calendar's, for days over four centuries")
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

@Suite("A Retry-After", .timeLimit(.ample))
struct RetryAfterTests {
    @Test(
        "is read in seconds and as a date, and left where it can't be understood",
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

    @Test("is counted by the server's clock where it is told")
    func serverClock() {
        let headers: ServiceHeaders = [
            "Date": "Thu, 01 Jan 1970 00:00:30 GMT", "Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT",
        ]
        #expect(RetryAfter.wait(headers, now: 5_000) == .seconds(30))
        #expect(RetryAfter.wait([:], now: 0) == nil)
    }
}

@Suite("A retry budget", .timeLimit(.ample))
struct RetryBudgetTests {
    @Test("gives as many retries as it holds, and more for successes")
    func balance() {
        let budget = RetryBudget(capacity: 2, refill: 0.1)

        #expect([budget.take(), budget.take(), budget.take()] == [true, true, false])
        for _ in 0..<9 { budget.succeed() }
        #expect(!budget.take())
        #expect(budget.balance == 0)
        budget.succeed()
        #expect(budget.balance == 1)
        #expect(budget.take() && !budget.take())
        for _ in 0..<1000 { budget.succeed() }
        #expect(budget.balance == 2)
    }

    @Test("may be as large as a number can be")
    func largest() {
        let budget = RetryBudget(capacity: .max)
        #expect(budget.take() && budget.balance == .max)
    }

    @Test("is none with nothing in it, whatever it is made of", arguments: [0, -5])
    func none(capacity: Int) {
        let budget = RetryBudget(capacity: capacity, refill: .nan)
        budget.succeed()
        #expect(!budget.take() && budget.balance == 0)
    }
}
