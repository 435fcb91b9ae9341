import Foundation

@testable import IDMHTTP

/// Server-sent events: the same ones, however a body is split, and those of the standard.
enum EventSubject {
    private static let limit = 64

    static func check(_ input: Input) {
        var input = input
        let pieces = input.pieces()
        let split = events(pieces)
        let whole = events([pieces.joined().reduce(into: [UInt8]()) { $0.append($1) }[...]])
        expect(split.failed == whole.failed, "Whether it fails depends on the pieces: \(split), \(whole)")
        expect(split.events == whole.events, "It depends on the pieces: \(split), \(whole)")
        if !whole.failed {
            expect(whole.events == standard(Array(pieces.joined())), "The standard says otherwise: \(whole.events)")
        }
    }

    private static func events(_ pieces: [ArraySlice<UInt8>]) -> (events: [ServerSentEvent], failed: Bool) {
        var splitter = LineSplitter(limit: limit)
        var parser = ServerSentEventParser(limit: limit)
        var events: [ServerSentEvent] = []
        do {
            for piece in pieces where splitter.fault == nil {
                for line in splitter.elements(in: Data(piece)) {
                    if let event = try parser.read(line) { events.append(event) }
                }
            }
            guard splitter.fault == nil else { return (events, true) }
            if let line = splitter.last(), let event = try parser.read(line) { events.append(event) }
            return (events, false)
        } catch {
            return (events, true)
        }
    }

    /// The algorithm of the HTML standard, read as slowly as it is written.
    private static func standard(_ bytes: [UInt8]) -> [ServerSentEvent] {
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        var lines: [[Unicode.Scalar]] = [[]]
        var place = 0
        while place < scalars.count {
            switch scalars[place] {
            case "\r":
                if place + 1 < scalars.count, scalars[place + 1] == "\n" { place += 1 }
                lines.append([])
            case "\n": lines.append([])
            default: lines[lines.count - 1].append(scalars[place])
            }
            place += 1
        }
        if lines.last == [] { lines.removeLast() }
        var events: [ServerSentEvent] = []
        var (type, data, id) = ("", "", "")
        var hasData = false
        var retry: Duration?
        func text(_ scalars: some Sequence<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(scalars)) }
        for line in lines {
            if line.isEmpty {
                if hasData {
                    events.append(
                        ServerSentEvent(
                            event: type.isEmpty ? "message" : type, data: String(data.unicodeScalars.dropLast()),
                            id: id, retry: retry))
                }
                (type, data, hasData) = ("", "", false)
                continue
            }
            let colon = line.firstIndex(of: ":") ?? line.count
            var value = line[min(colon + 1, line.count)...]
            if value.first == " " { value = value.dropFirst() }
            switch text(line[..<colon]) {
            case "event": type = text(value)
            case "data":
                data.unicodeScalars.append(contentsOf: value)
                data.unicodeScalars.append("\n")
                hasData = true
            case "id" where !value.contains("\0"): id = text(value)
            case "retry" where !value.isEmpty && value.allSatisfy { ("0"..."9").contains($0) }:
                if let number = Int64(text(value)) { retry = .milliseconds(number) }
            default: break
            }
        }
        return events
    }
}
