import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Cookies that URLSession has joined", .timeLimit(.ample))
struct JoinedCookiesTests {
    /// Bytes that count how often one of them is looked at.
    private struct CountedBytes: RandomAccessCollection {
        final class Count: Sendable {
            let looks = Atomic(0)
        }

        let bytes: [UInt8]
        let count: Int
        let counter = Count()

        init(_ text: String) {
            bytes = Array(text.utf8)
            count = bytes.count
        }

        var startIndex: Int { 0 }
        var endIndex: Int { count }

        subscript(place: Int) -> UInt8 {
            counter.looks.add(1, ordering: .relaxed)
            return bytes[place]
        }
    }

    @Test(
        "stand apart again",
        arguments: [
            ["a=1"], ["a=1", "b=2"], ["a=", "b="], [""], ["a"], ["a", "b=1"], ["a=1; Path=/", "b=2; HttpOnly"],
            ["a=1; Expires=Wed, 21 Oct 2030 07:28:00 GMT", "b=2; expires=Thu, 01-Jan-1970 00:00:00 GMT; Path=/"],
            ["a=x,y"], ["a=1,b=2", "c=3"], ["a=1", "b c=2", "d=3"], ["a=1", "", "b=2"],
            ["a=1", "=2"], ["a=1,"], ["a=1", "b"], ["id=1; Path=/", "cart[1]=; Max-Age=0"], ["id=1", "a:b=2"],
            ["id=1; Path=/", "AMCV_1@Org=1; Max-Age=0", "=x; Max-Age=0", "y; Max-Age=0"],
            ["id=1; expires=Thursday, 01-Jan-1970 00:00:00 GMT", "é[]=2; Expires=x", "z"], ["a=\"1, b=2\"", "c=3"],
            ["a=\"1, b=2\"; Path=\"/, /x\"", "c=\"\"", "d=4"],
            ["a=\"1", "b=2"], ["a=\"1; Path=/", "b=\"2\""], ["a=\"1\"x\"", "b=2\""],
            ["HttpOnly; Path=\"/, b=2\"", "c=3"], ["a=é", "b=ü", "ö=3"],
        ])
    func apart(cookies: [String]) {
        #expect(Array(cookies.joined(separator: ", ").utf8).separateCookies() == cookies)
    }

    @Test(
        "stand apart without a long way for a long text, whatever is in it",
        arguments: [
            ("", ", "), ("a=", ", "), ("a=\"", ", b=c"), ("a=\"", ", b"), ("", ", a=\""), ("a", ", b;c"),
            ("", ", a=\";"), ("a=\"", ","), ("", ", aaaaaaaaaaaaaaa"),
        ])
    func hostile(beginning: String, repeated: String) {
        let bytes = CountedBytes(beginning + String(repeating: repeated, count: 30_000 / repeated.utf8.count))
        let cookies = bytes.separateCookies()

        #expect(cookies.joined(separator: ", ") == String(decoding: bytes.bytes, as: UTF8.self))
        #expect(bytes.counter.looks.load(ordering: .relaxed) < 8 * bytes.count)
    }
}
