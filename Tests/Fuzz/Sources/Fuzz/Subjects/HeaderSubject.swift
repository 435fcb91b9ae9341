import Foundation

@testable import IDMHTTP
@testable import IDMTesting

/// Headers: one that passes is read by a server as what it is, and as nothing else.
enum HeaderSubject {
    static func check(_ input: Input) {
        var input = input
        let method = ServiceRequest.Method(input.text())
        var headers = ServiceHeaders()
        while !input.rest.isEmpty { headers.add(ServiceHeaders.Name(input.text()), input.text()) }
        guard (try? method.check()) != nil, (try? headers.check()) != nil else { return }
        var lines = "\(method.name) / HTTP/1.1\r\nHost: h\r\n"
        for field in headers { lines += "\(field.name.spelling): \(field.value)\r\n" }
        var bytes = Array((lines + "\r\n").utf8)[...]
        var parser = RequestParser()
        guard case .head(let head)? = try? parser.next(&bytes), bytes.isEmpty else {
            fault("The server doesn't read it: \(lines)")
        }
        expect(head.method == method, "The server reads another method: \(lines)")
        let read = head.headers.dropFirst().map { "\($0.name.spelling): \($0.value)" }
        let sent = headers.map { "\($0.name.spelling): \($0.value.trimmingCharacters(in: .whitespaces))" }
        expect(read == sent, "The server reads other fields: \(lines)")
    }
}
