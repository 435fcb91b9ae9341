@testable import IDMTesting

/// The reader of the test server: the same requests, however the bytes are split.
enum RequestSubject {
    static func check(_ input: Input) {
        var input = input
        let pieces = input.pieces()
        let split = events(pieces)
        let whole = events([Array(pieces.joined())[...]])
        expect(split == whole, "It depends on the pieces: \(split), \(whole)")
    }

    /// What is read, with pieces of a body that follow one another as one, and the fault last.
    private static func events(_ pieces: [ArraySlice<UInt8>]) -> [String] {
        var parser = RequestParser()
        var events: [String] = []
        var body: [UInt8] = []
        do throws(RequestParser.Fault) {
            for piece in pieces {
                var input = piece
                while let event = try parser.next(&input) {
                    switch event {
                    case .body(let bytes): body += bytes
                    case .head(let head): events.append("\(head.bytes) \(head.framing)")
                    case .end:
                        events.append("\(body)")
                        body = []
                    }
                }
                expect(input.isEmpty, "It leaves something behind")
            }
            return events + ["\(body)"]
        } catch {
            return events + ["\(body)", error.reason]
        }
    }
}
