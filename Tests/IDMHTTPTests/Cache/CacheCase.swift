import Foundation
import IDMTesting

@testable import IDMHTTP

/// Two requests for one address, and what becomes of the second one.
struct CacheCase: Sendable {
    /// What becomes of the second request.
    enum Outcome: Sendable {
        /// The stored response answers. The server gets one request.
        case hit
        /// The server gets a second request, without a condition.
        case fetched
        /// The server is asked whether the stored response still holds.
        case validated
        /// Nothing answers, and the server gets one request.
        case notCached
    }

    let name: String
    /// The fields of the first response.
    let stored: ServiceHeaders
    let outcome: Outcome
    /// The seconds between the two requests.
    var after = 10.0
    var status = 200
    var policy: ServiceRequest.CachePolicy?
    var first: ServiceHeaders = [:]
    var second: ServiceHeaders = [:]
    /// The status of the second response, where it isn't a 304.
    var laterStatus = 200

    init(
        _ name: String, _ stored: ServiceHeaders, _ outcome: Outcome, after: Double = 10, status: Int = 200,
        policy: ServiceRequest.CachePolicy? = nil, first: ServiceHeaders = [:], second: ServiceHeaders = [:],
        laterStatus: Int = 200
    ) {
        (self.name, self.stored, self.outcome, self.after, self.status) = (name, stored, outcome, after, status)
        (self.policy, self.first, self.second, self.laterStatus) = (policy, first, second, laterStatus)
    }

    /// The time of the first request, and half an hour before.
    static let start = 784_111_777.0
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let before = "Sun, 06 Nov 1994 08:19:37 GMT"
    static let inTwoMinutes = "Sun, 06 Nov 1994 08:51:37 GMT"
    static let inOneMinute = "Sun, 06 Nov 1994 08:50:37 GMT"

    private static let tag: ServiceHeaders = ["ETag": "\"1\""]
    private static func control(_ value: String, _ others: ServiceHeaders = [:]) -> ServiceHeaders {
        (["Cache-Control": value] as ServiceHeaders).merging(others)
    }

    static let all: [CacheCase] = [
        // Freshness
        CacheCase("max-age lasts", control("max-age=11"), .hit),
        CacheCase("max-age ends", control("max-age=10"), .fetched),
        CacheCase("max-age in upper case", control("MAX-AGE=60"), .hit),
        CacheCase("max-age in quotes", control("max-age=\"60\""), .hit),
        CacheCase("max-age behind others and white space", control("foo=\"a, max-age=1\" ,  max-age=60"), .hit),
        CacheCase("max-age beyond numbers", control("max-age=99999999999999999999"), .hit),
        CacheCase("max-age below zero", control("max-age=-1"), .fetched),
        CacheCase("max-age that is no number", control("max-age=1h"), .fetched),
        CacheCase("max-age twice counts the least", control("max-age=60, max-age=5"), .fetched),
        CacheCase("max-age before Expires", control("max-age=60", ["Expires": before]), .hit),
        CacheCase("s-maxage isn't for a private cache", control("s-maxage=60, max-age=5"), .fetched),
        CacheCase("Expires lasts", ["Expires": inOneMinute], .hit),
        CacheCase("Expires ends", ["Expires": inOneMinute], .fetched, after: 60),
        CacheCase("Expires that is no date", ["Expires": "0"], .fetched),
        CacheCase("Expires counts from Date", ["Expires": inOneMinute, "Date": inTwoMinutes], .fetched),
        CacheCase("Age counts", control("max-age=60", ["Age": "55"]), .fetched),
        CacheCase("Age within max-age", control("max-age=60", ["Age": "45"]), .hit),
        CacheCase("an Age that is no number doesn't count", control("max-age=60", ["Age": "x"]), .hit),
        CacheCase("an old Date counts", control("max-age=60", ["Date": before]), .fetched),
        CacheCase(
            "a tenth of the time since Last-Modified", ["Last-Modified": before, "Date": date], .hit, after: 179),
        CacheCase("no longer than that", ["Last-Modified": before, "Date": date], .validated, after: 181),
        CacheCase("no guess for a status that isn't kept by itself", ["Last-Modified": before], .fetched, status: 500),
        CacheCase("nothing says how long", [:], .fetched),
        // Directives of the response
        CacheCase("no-store", control("no-store, max-age=60"), .fetched),
        CacheCase("no-store in a second line", ["Cache-Control": "max-age=60", "Cache-Control": "No-Store"], .fetched),
        CacheCase("no-cache", control("no-cache, max-age=60", tag), .validated),
        CacheCase("private", control("private, max-age=60"), .hit),
        CacheCase(
            "must-understand with a status that is known", control("no-store, must-understand, max-age=60"), .hit),
        CacheCase(
            "must-understand with one that isn't", control("must-understand, max-age=60"), .fetched, status: 299),
        CacheCase(
            "must-revalidate forbids max-stale", control("max-age=5, must-revalidate", tag), .validated,
            second: ["Cache-Control": "max-stale"]),
        CacheCase("immutable is fresh no longer than it says", control("max-age=5, immutable", tag), .validated),
        CacheCase(
            "stale-if-error covers a failure", control("max-age=5, stale-if-error=60"), .fetched, laterStatus: 503),
        // Directives of the request
        CacheCase(
            "no-cache of the request", control("max-age=60", tag), .validated, second: ["Cache-Control": "no-cache"]),
        CacheCase("Pragma of the request", control("max-age=60", tag), .validated, second: ["Pragma": "no-cache"]),
        CacheCase(
            "no Pragma beside Cache-Control", control("max-age=60"), .hit,
            second: ["Pragma": "no-cache", "Cache-Control": "max-age=60"]),
        CacheCase(
            "max-age of the request", control("max-age=60", tag), .validated, second: ["Cache-Control": "max-age=9"]),
        CacheCase("min-fresh", control("max-age=60", tag), .validated, second: ["Cache-Control": "min-fresh=51"]),
        CacheCase("min-fresh that is met", control("max-age=60"), .hit, second: ["Cache-Control": "min-fresh=50"]),
        CacheCase("max-stale", control("max-age=5"), .hit, second: ["Cache-Control": "max-stale"]),
        CacheCase(
            "max-stale that is too short", control("max-age=5", tag), .validated,
            second: ["Cache-Control": "max-stale=4"]),
        CacheCase(
            "no-store of the first request", control("max-age=60"), .fetched, first: ["Cache-Control": "no-store"]),
        CacheCase(
            "only-if-cached and stale", control("max-age=5", tag), .notCached,
            second: ["Cache-Control": "only-if-cached"]),
        CacheCase("only-if-cached and fresh", control("max-age=60"), .hit, second: ["Cache-Control": "only-if-cached"]),
        // Validation
        CacheCase("a strong tag", tag, .validated),
        CacheCase("a weak tag", ["ETag": "W/\"1\""], .validated),
        CacheCase("Last-Modified", ["Last-Modified": date, "Date": date], .validated),
        CacheCase(
            "a condition of the caller's own", control("max-age=60", tag), .validated,
            second: ["If-None-Match": "\"0\""]),
        CacheCase("a range", control("max-age=60"), .fetched, second: ["Range": "bytes=0-1"]),
        // Vary
        CacheCase(
            "Vary with the same value", control("max-age=60", ["Vary": "Accept-Language"]), .hit,
            first: ["accept-language": "en,  de"], second: ["Accept-Language": "en, de"]),
        CacheCase(
            "Vary with another value", control("max-age=60", ["Vary": "Accept-Language"]), .fetched,
            first: ["Accept-Language": "en"], second: ["Accept-Language": "de"]),
        CacheCase("Vary with an absent field", control("max-age=60", ["Vary": "X-A"]), .hit),
        CacheCase("Vary with a field that came", control("max-age=60", ["Vary": "X-A"]), .fetched, second: ["X-A": ""]),
        CacheCase(
            "Vary with several fields", control("max-age=60", ["Vary": "X-A , x-b"]), .fetched,
            first: ["X-A": "1", "X-B": "1"], second: ["X-A": "1", "X-B": "2"]),
        CacheCase("Vary *", control("max-age=60", ["Vary": "X-A, *"]), .fetched),
        CacheCase("a field that Vary doesn't name", control("max-age=60"), .hit, second: ["Accept-Language": "de"]),
        // Statuses
        CacheCase("404 for as long as it says", control("max-age=60"), .hit, status: 404),
        CacheCase("404 without a word", [:], .fetched, status: 404),
        CacheCase("a part", control("max-age=60"), .fetched, status: 206),
        CacheCase("an unknown status for as long as it says", control("max-age=60"), .hit, status: 299),
        // Credentials
        CacheCase(
            "credentials without a word", tag, .fetched, first: ["Authorization": "a"], second: ["Authorization": "a"]),
        CacheCase(
            "credentials and max-age", control("max-age=60"), .hit, first: ["Authorization": "a"],
            second: ["Authorization": "a"]),
        CacheCase(
            "other credentials", control("max-age=60"), .fetched, first: ["Authorization": "a"],
            second: ["Authorization": "b"]),
        CacheCase(
            "credentials of the second alone", control("public, max-age=60"), .fetched, second: ["X-API-Key": "a"]),
        CacheCase("credentials of the first alone", control("max-age=60"), .fetched, first: ["Cookie": "a=1"]),
        // Policies
        CacheCase("reload asks, though it is fresh", control("max-age=60", tag), .fetched, policy: .reload),
        CacheCase(
            "cacheElseLoad takes what is stale", control("max-age=5, must-revalidate", tag), .hit,
            policy: .cacheElseLoad),
        CacheCase("cacheElseLoad loads what isn't there", control("no-store"), .fetched, policy: .cacheElseLoad),
        CacheCase("cacheOnly takes what is stale", tag, .hit, policy: .cacheOnly),
        CacheCase("cacheOnly asks nobody", control("no-store"), .notCached, policy: .cacheOnly),
    ]
}
