import Foundation

@testable import IDMHTTP

/// Path templates: what is filled into one stays in its segment, and the path is one that a URL can have.
enum PathSubject {
    static func check(_ input: Input) {
        var input = input
        let template = input.text()
        guard let path = try? PathTemplate(template) else { return }
        var values: [String: String] = [:]
        for name in path.parameters.sorted() { values[name] = input.text() }
        guard let filled = try? path.filled(with: values) else { return }
        let slash = UInt8(ascii: "/")
        expect(
            filled.utf8.count { $0 == slash } == template.utf8.count { $0 == slash },
            "A value has changed the segments: \(filled)")
        for byte in filled.utf8 {
            expect(byte > 32 && byte < 127 && !"?#\\\"<>^`{|}".utf8.contains(byte), "It isn't escaped: \(filled)")
        }
        for segment in filled.utf8.split(separator: slash, omittingEmptySubsequences: false) {
            let plain = String(decoding: segment, as: UTF8.self).lowercased().replacing("%2e", with: ".")
            expect(plain != "." && plain != "..", "A segment is a step: \(filled)")
        }
        guard let components = URLComponents(string: "http://h/base/\(filled)"), components.url != nil else {
            fault("No URL can have it: \(filled)")
        }
        expect(components.percentEncodedPath == "/base/\(filled)", "The URL has another path: \(filled)")
        expect(components.query == nil && components.fragment == nil && components.host == "h", "It leaves the path")
    }
}
