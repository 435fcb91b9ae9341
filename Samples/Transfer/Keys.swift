import Dispatch
import Foundation

/// Keys as they are pressed, and signals in the place of keys.
struct Keys {
    private var sources: [any DispatchSourceProtocol] = []
    private var saved: termios?

    init(_ press: @escaping @Sendable (Character) -> Void) {
        for (number, key) in [(SIGUSR1, Character("p")), (SIGUSR2, "r")] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { press(key) }
            sources.append(source)
        }
        var raw = termios()
        // Each key at once, and none of them shown. Not from the background, where that would stop the program.
        if tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &raw) == 0 {
            saved = raw
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &raw)
            let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
            source.setEventHandler {
                var byte: UInt8 = 0
                guard read(STDIN_FILENO, &byte, 1) == 1 else { return source.cancel() }
                let key = Character(Unicode.Scalar(byte))
                if "prq".contains(key) { press(key) }
            }
            sources.append(source)
        }
        for source in sources { source.resume() }
    }

    /// Leaves the terminal as it was.
    func end() {
        for source in sources { source.cancel() }
        if var saved { tcsetattr(STDIN_FILENO, TCSANOW, &saved) }
    }
}
