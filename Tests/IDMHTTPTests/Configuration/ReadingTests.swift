import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A configuration is read", .timeLimit(.ample))
struct ReadingTests {
    private typealias Failure = ServiceConfiguration.ReadingFault

    private func json(
        _ text: String, environment: String? = nil, variable: String? = nil, in variables: [String: String] = [:]
    ) throws -> ServiceConfiguration {
        try ServiceConfiguration(
            json: Data(text.utf8), environment: environment, variable: variable, in: variables)
    }

    private static let full = """
        {
            "baseURL": "https://h/v1", "headers": { "X": "1", "Accept-Language": "en" }, "idleTimeout": 2.5, "totalTimeout": 30,
            "cachePolicy": "reload",
            "maximumBody": 1000, "maximumHeader": 2000, "maximumRedirects": 0,
            "environments": {
                "staging": {
                    "baseURL": "https://staging.h", "headers": { "x": "2" }, "idleTimeout": 1, "cachePolicy": "cacheOnly"
                },
                "empty": {}
            }
        }
        """

    private func expectFull(_ configuration: ServiceConfiguration) {
        #expect(configuration.baseURL.absoluteString == "https://h/v1")
        #expect(configuration.headers == ["Accept-Language": "en", "X": "1"])
        #expect(configuration.idleTimeout == .seconds(2.5) && configuration.totalTimeout == .seconds(30))
        #expect(configuration.limits == .init(body: 1000, header: 2000, redirects: 0))
        #expect(configuration.cachePolicy == .reload)
    }

    @Test("from JSON and from a property list, to the same result")
    func kinds() throws {
        let folder = try TemporaryFolder()
        expectFull(try ServiceConfiguration(contentsOf: folder.file("c.json", Self.full), in: [:]))
        let tree = try JSONSerialization.jsonObject(with: Data(Self.full.utf8))
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let data = try PropertyListSerialization.data(fromPropertyList: tree, format: format, options: 0)
            expectFull(try ServiceConfiguration(contentsOf: folder.file("c.PLIST", data), in: [:]))
        }
    }

    @Test(
        "with a cache policy by its name",
        arguments: [
            ("standard", .standard), ("reload", .reload), ("cacheElseLoad", .cacheElseLoad), ("cacheOnly", .cacheOnly),
        ] as [(String, ServiceRequest.CachePolicy)])
    func cachePolicy(name: String, policy: ServiceRequest.CachePolicy) throws {
        #expect(try json(#"{"baseURL": "https://h", "cachePolicy": "\#(name)"}"#).cachePolicy == policy)
    }

    @Test("with no more than a base URL")
    func least() throws {
        let configuration = try json(#"{"baseURL": "https://h"}"#)

        #expect(configuration.idleTimeout == .seconds(60) && configuration.headers.isEmpty)
        #expect(configuration.limits == .init())
    }

    @Test("an environment overrides the values beside it")
    func environments() throws {
        let staging = try json(Self.full, environment: "staging")

        #expect(staging.baseURL.absoluteString == "https://staging.h")
        #expect(staging.headers == ["Accept-Language": "en", "x": "2"])
        #expect(staging.idleTimeout == .seconds(1) && staging.totalTimeout == .seconds(30))
        #expect(staging.cachePolicy == .cacheOnly)
        expectFull(try json(Self.full, environment: "empty"))
    }

    @Test("with an environment variable on top of everything, if it is set")
    func variables() throws {
        let set = try json(Self.full, environment: "staging", variable: "API", in: ["API": "http://[::1]:8080"])
        #expect(set.baseURL.absoluteString == "http://[::1]:8080")
        #expect(set.idleTimeout == .seconds(1))
        for variables in [[:], ["API": ""], ["OTHER": "http://other"]] {
            expectFull(try json(Self.full, variable: "API", in: variables))
        }
        #expect(try json("{}", variable: "API", in: ["API": "https://h"]).baseURL.absoluteString == "https://h")
    }

    @Test("from the Endpoint and Base of an app's Info.plist")
    func endpoint() throws {
        let info = """
            <plist version="1.0"><dict>
                <key>CFBundleName</key><string>App</string>
                <key>Built</key><date>2024-01-01T00:00:00Z</date>
                <key>Endpoint</key><dict>
                    <key>Base</key><string>https://h/v1</string>
                    <key>idleTimeout</key><integer>7</integer>
                    <key>Search</key><string>search/users</string>
                    <key>environments</key><dict>
                        <key>staging</key><dict><key>Base</key><string>https://s</string></dict>
                    </dict>
                </dict>
            </dict></plist>
            """
        let configuration = try ServiceConfiguration(propertyList: Data(info.utf8), in: [:])
        #expect(configuration.baseURL.absoluteString == "https://h/v1" && configuration.idleTimeout == .seconds(7))
        let staging = try ServiceConfiguration(propertyList: Data(info.utf8), environment: "staging", in: [:])
        #expect(staging.baseURL.absoluteString == "https://s")

        let empty = Data("<plist><dict><key>Endpoint</key><dict/></dict></plist>".utf8)
        #expect(throws: Failure.missing(key: "Endpoint.Base")) {
            try ServiceConfiguration(propertyList: empty, in: [:])
        }
        let wrong = Data("<plist><dict><key>Endpoint</key><string>https://h</string></dict></plist>".utf8)
        #expect(throws: Failure.malformed(key: "Endpoint", reason: "it isn't a dictionary.")) {
            try ServiceConfiguration(propertyList: wrong, in: [:])
        }
    }

    @Test("from a bundle without an Endpoint only as far as the missing key")
    func bundle() {
        #expect(throws: Failure.missing(key: "Endpoint")) { try ServiceConfiguration(infoOf: .main, in: [:]) }
    }

    @Test(
        "a missing key is refused",
        arguments: [
            ("{}", nil, "baseURL"), (#"{"baseURL": "https://h"}"#, "staging", "environments"),
            (#"{"baseURL": "https://h", "environments": {}}"#, "staging", "environments.staging"),
            (#"{"environments": {"a": {}}}"#, "a", "baseURL"),
        ] as [(String, String?, String)])
    func missing(text: String, environment: String?, key: String) {
        #expect(throws: Failure.missing(key: key)) { try json(text, environment: environment) }
    }

    @Test(
        "an unknown key is refused",
        arguments: [
            (#"{"baseURL": "https://h", "timout": 3}"#, "timout"),
            (#"{"baseURL": "https://h", "Base": "https://h"}"#, "Base"),
            (#"{"environments": {"a": {"baseurl": ""}}}"#, "environments.a.baseurl"),
        ])
    func unknown(text: String, key: String) {
        #expect(throws: Failure.unknown(key: key)) { try json(text) }
    }

    @Test(
        "an unusable value is refused with its path",
        arguments: [
            (#"{"baseURL": 1}"#, "baseURL"), (#"{"baseURL": null}"#, "baseURL"), (#"{"baseURL": ""}"#, "baseURL"),
            (#"{"baseURL": "not a url"}"#, "baseURL"), (#"{"baseURL": "ftp://h"}"#, "baseURL"),
            (#"{"baseURL": "https://u:s3cret@h"}"#, "baseURL"),
            (#"{"baseURL": "https://h", "idleTimeout": "3"}"#, "idleTimeout"),
            (#"{"baseURL": "https://h", "idleTimeout": 0}"#, "idleTimeout"),
            (#"{"baseURL": "https://h", "idleTimeout": -1}"#, "idleTimeout"),
            (#"{"baseURL": "https://h", "idleTimeout": 1e-22}"#, "idleTimeout"),
            (#"{"baseURL": "https://h", "totalTimeout": 1e300}"#, "totalTimeout"),
            (#"{"baseURL": "https://h", "maximumBody": 1.5}"#, "maximumBody"),
            (#"{"baseURL": "https://h", "maximumRedirects": -1}"#, "maximumRedirects"),
            (#"{"baseURL": "https://h", "cachePolicy": "s3cret"}"#, "cachePolicy"),
            (#"{"baseURL": "https://h", "cachePolicy": 1}"#, "cachePolicy"),
            (#"{"baseURL": "https://h", "headers": {"A": 1}}"#, "headers.A"),
            (#"{"baseURL": "https://h", "headers": []}"#, "headers"),
            (#"{"baseURL": "https://h", "headers": {"A B": "1"}}"#, "headers.A B"),
            (#"{"baseURL": "https://h", "headers": {"A": "s3cret\r\nB: c"}}"#, "headers.A"),
            (#"{"baseURL": "https://h", "headers": {"Host": "x"}}"#, "headers.Host"),
            (
                #"{"baseURL": "https://h", "environments": {"a": {"idleTimeout": "s3cret"}}}"#,
                "environments.a.idleTimeout"
            ),
        ])
    func malformed(text: String, key: String) throws {
        let error = #expect(throws: Failure.self) { try json(text) }

        guard case .malformed(let found, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == key && !reason.isEmpty)
        let shown = String(reflecting: error) + (error?.description ?? "")
        #expect(!shown.contains("s3cret"))
    }

    @Test(
        "a property list is refused for the same keys",
        arguments: [
            ("maximumBody", "<real>1.5</real>"), ("maximumBody", "<real>1e30</real>"),
            ("idleTimeout", "<string>3</string>"),
            ("idleTimeout", "<real>nan</real>"), ("idleTimeout", "<true/>"), ("headers", "<integer>3</integer>"),
        ])
    func malformedList(key: String, value: String) {
        let list = "<plist><dict><key>baseURL</key><string>https://h</string><key>\(key)</key>\(value)</dict></plist>"
        let error = #expect(throws: Failure.self) {
            try ServiceConfiguration(propertyList: Data(list.utf8), in: [:])
        }
        #expect(error?.description.hasPrefix("“\(key)” of the configuration can't be used: ") == true)
    }

    @Test(
        "a number out of bounds is refused with its bounds",
        arguments: [
            ("idleTimeout", "0", "it has to be more than zero, and less than a hundred years."),
            ("maximumBody", "0", "it has to be more than zero."),
            ("maximumHeader", "-1", "it has to be more than zero."),
            ("maximumRedirects", "-1", "it can't be less than zero."),
        ])
    func outOfBounds(key: String, value: String, reason: String) {
        #expect(throws: Failure.malformed(key: key, reason: reason)) {
            try json(#"{"baseURL": "https://h", "\#(key)": \#(value)}"#)
        }
    }

    @Test("a variable without a base URL is refused by name")
    func badVariable() {
        let error = #expect(throws: Failure.self) {
            try json(#"{"baseURL": "https://h"}"#, variable: "API", in: ["API": "localhost:80"])
        }
        #expect(error?.description.hasPrefix("“API” of the configuration can't be used: ") == true)
    }

    @Test(
        "an unreadable or misnamed file is refused",
        arguments: ["", "{", "[]", "\u{FF}{}", #"{"baseURL": "https://h", "totalTimeout": 1e999}"#])
    func syntax(text: String) throws {
        #expect(throws: Failure.self) { try json(text) }
        #expect(throws: Failure.self) { try ServiceConfiguration(propertyList: Data(text.utf8), in: [:]) }
    }

    @Test("from a file of one of two kinds that is there")
    func files() throws {
        let folder = try TemporaryFolder()

        #expect(throws: Failure.unreadable("none.json", reason: "there is no such file")) {
            try ServiceConfiguration(contentsOf: folder.url.appendingPathComponent("none.json"), in: [:])
        }
        #expect(throws: Failure.unreadable("c.yaml", reason: "its name ends neither with .plist nor with .json")) {
            try ServiceConfiguration(contentsOf: folder.file("c.yaml", "a: b"), in: [:])
        }
    }
}
