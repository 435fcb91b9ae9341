import Dispatch
import Foundation

/// Keys as they are pressed.
struct Keys {
    private let source: any DispatchSourceRead
    private var saved: termios

    /// Nil without a terminal, and in the background, where to touch one would stop the program.
    init?(_ press: @escaping @Sendable (Character) -> Void) {
        var raw = termios()
        guard tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &raw) == 0 else { return nil }
        saved = raw
        // Each key at once, and none of them shown.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        source.setEventHandler {
            let byte = FileHandle.standardInput.readData(ofLength: 1).first
            if let byte { press(Character(Unicode.Scalar(byte))) }
        }
        source.resume()
    }

    mutating func end() { tcsetattr(STDIN_FILENO, TCSANOW, &saved) }
}
