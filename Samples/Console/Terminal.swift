import Foundation

/// A terminal in raw mode: delivers each key, and redraws its lines in place.
@MainActor
public final class Terminal {
    /// A key press.
    public enum Key: Sendable, Equatable {
        case character(Character)
        case delete, up, down, enter
        /// Escape, control-C, control-D, or the end of the input.
        case leave
    }

    /// The pressed keys. The stream supports one reader.
    public let keys: AsyncStream<Key>

    private var settings: termios?
    private var lineCount = 0

    /// Puts the terminal into raw mode. Returns nil if input or output is no terminal, and in the background, where a
    /// change of the terminal stops the program.
    public init?() {
        var settings = termios()
        guard isatty(STDOUT_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        let (keys, continuation) = AsyncStream.makeStream(of: Key.self)
        self.keys = keys
        // A signal leaves through `restore()`, so the shell gets its terminal back.
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

    /// Restores the terminal's settings. A second call does nothing.
    public func restore() {
        guard var settings else { return }
        self.settings = nil
        FileHandle.standardInput.readabilityHandler = nil
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        print()
    }

    /// Replaces the lines of the previous call. Lines and columns beyond the window are cut off.
    public func draw(_ lines: [String]) {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        let (width, height) = isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
        let up = lineCount > 1 ? "\u{1b}[\(min(lineCount, height) - 1)A" : ""
        let lines = lines.prefix(height)
        lineCount = lines.count
        let text = up + "\r\u{1b}[J" + lines.map { String($0.printable.prefix(width)) }.joined(separator: "\r\n")
        // The window may be gone.
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Decodes the bytes that a terminal sends for keys.
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

    /// Decodes an escape sequence, which stands for a key without a character. Bytes that directly follow the escape
    /// belong to the sequence.
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

extension Error {
    /// The error in words for the user of an app: its `errorDescription`, or else its description.
    public var userText: String { (self as? any LocalizedError)?.errorDescription ?? "\(self)" }
}

extension String {
    /// The text without control characters, which a terminal would execute. A name can come from an untrusted server.
    public var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
