import Foundation

/// A terminal that tells of each key as it is struck, and in which lines are drawn over those from before.
@MainActor
public final class Terminal {
    /// Something that was struck.
    public enum Key: Sendable, Equatable {
        case character(Character)
        case delete, up, down, enter
        /// Escape, control-C, control-D, or the end of the input.
        case leave
    }

    /// The keys, as they are struck. To be read once.
    public let keys: AsyncStream<Key>

    private var settings: termios?
    private var lineCount = 0

    /// Takes the terminal over. Nil if the program's input or output is none, and in the background, where to touch one
    /// would stop the program.
    public init?() {
        var settings = termios()
        guard isatty(STDOUT_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        let (keys, continuation) = AsyncStream.makeStream(of: Key.self)
        self.keys = keys
        // Whoever ends the program from outside is to find the terminal as it was.
        Interrupt.first { _ in continuation.yield(.leave) }
        self.settings = settings
        cfmakeraw(&settings)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        FileHandle.standardInput.readabilityHandler = { input in
            let bytes = input.availableData
            for key in Self.keys(in: bytes) { continuation.yield(key) }
            if bytes.isEmpty { continuation.finish() }
        }
    }

    /// Gives the terminal back as it was. Doing so again does nothing.
    public func restore() {
        guard var settings else { return }
        self.settings = nil
        FileHandle.standardInput.readabilityHandler = nil
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        print()
    }

    /// Draws lines in the place of those that were drawn before. What a small window has no room for is left out.
    public func draw(_ lines: [String]) {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        let (width, height) = isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
        let up = lineCount > 1 ? "\u{1b}[\(min(lineCount, height) - 1)A" : ""
        let lines = lines.prefix(height)
        lineCount = lines.count
        let text = up + "\r\u{1b}[J" + lines.map { String($0.printable.prefix(width)) }.joined(separator: "\r\n")
        // Nobody sees it where the window is gone.
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// What keys were struck, by what a terminal sends for them.
    nonisolated static func keys(in bytes: Data) -> [Key] {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        var keys: [Key?] = []
        while let character = rest.popFirst() {
            switch character {
            case "\u{1b}" where !rest.isEmpty: keys.append(key(after: &rest))
            case "\u{3}", "\u{4}", "\u{1b}": keys.append(.leave)
            case "\u{8}", "\u{7f}": keys.append(.delete)
            case "\r", "\n", "\r\n": keys.append(.enter)
            case let other where other.isASCII && (other.asciiValue ?? 0) < 32: break
            default: keys.append(.character(character))
            }
        }
        return keys.compactMap(\.self)
    }

    /// The key of what follows an escape at once: that is a key without a character, and escape wasn't struck.
    private nonisolated static func key(after escape: inout Substring) -> Key? {
        guard let first = escape.popFirst(), ["[", "O"].contains(first) else { return nil }
        escape = escape.drop { $0.isNumber || $0 == ";" }
        switch escape.popFirst() {
        case "A": return .up
        case "B": return .down
        default: return nil
        }
    }
}

extension String {
    /// The text without what a terminal would take for an order: a name may come from anywhere.
    public var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
