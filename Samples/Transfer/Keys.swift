import Dispatch
import Foundation

/// Keys as they are pressed.
struct Keys {
    private let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
    private var saved = termios()

    /// Nil without a terminal, and in the background, where to touch one would stop the program.
    init?(_ press: @escaping @Sendable (Character) -> Void) {
        guard tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &saved) == 0 else { return nil }
        var raw = saved
        // Each key at once, and none of them shown.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        source.setEventHandler {
            if let byte = FileHandle.standardInput.readData(ofLength: 1).first {
                press(Character(Unicode.Scalar(byte)))
            }
        }
        source.resume()
    }

    mutating func end() {
        tcsetattr(STDIN_FILENO, TCSANOW, &saved)
    }
}
