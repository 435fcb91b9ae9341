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

    /// Draws lines in the place of those that were drawn before. What a narrow window has no room for is left out.
    public func draw(_ lines: [String]) {
        var size = winsize()
        let width = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
        let up = lineCount > 1 ? "\u{1b}[\(lineCount - 1)A" : ""
        lineCount = lines.count
        let text = up + "\r\u{1b}[J" + lines.map { String($0.prefix(width)) }.joined(separator: "\r\n")
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    /// What keys were struck, by what a terminal sends for them.
    nonisolated static func keys(in bytes: Data) -> [Key] {
        switch Array(bytes) {
        case [0x1b, 0x5b, 0x41]: [.up]
        case [0x1b, 0x5b, 0x42]: [.down]
        case let sequence where sequence.first == 0x1b && sequence.count > 1: []
        default:
            String(decoding: bytes, as: UTF8.self).compactMap { character in
                switch character {
                case "\u{3}", "\u{4}", "\u{1b}": .leave
                case "\u{8}", "\u{7f}": .delete
                case "\r", "\n", "\r\n": .enter
                case let other where other.isASCII && (other.asciiValue ?? 0) < 32: nil
                default: .character(character)
                }
            }
        }
    }
}
