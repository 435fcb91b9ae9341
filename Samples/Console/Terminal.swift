import Dispatch
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
    private let signals: [any DispatchSourceSignal]

    /// Takes the terminal over. Nil if the program's input or output is none.
    public init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 else {
            return nil
        }
        self.settings = settings
        cfmakeraw(&settings)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        let (keys, continuation) = AsyncStream.makeStream(of: Key.self)
        self.keys = keys
        FileHandle.standardInput.readabilityHandler = { input in
            let bytes = input.availableData
            for key in Self.keys(in: bytes) { continuation.yield(key) }
            if bytes.isEmpty { continuation.finish() }
        }
        // Whoever ends the program from outside is to find the terminal as it was.
        signals = [SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(.leave) }
            source.resume()
            return source
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

    /// Draws lines in the place of those that were drawn before.
    public func draw(_ lines: [String]) {
        let up = lineCount > 1 ? "\u{1b}[\(lineCount - 1)A" : ""
        lineCount = lines.count
        let text = up + "\r\u{1b}[J" + lines.joined(separator: "\r\n")
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
