import Foundation

/// Signals that end the program: control-C, termination and hang-up.
@MainActor
public enum Interrupt {
    /// Runs a closure on the first signal, then ends the program with the exit code that shells expect.
    public static func handle(_ body: @escaping @Sendable () -> Void) {
        first { number in
            body()
            leave(number)
        }
    }

    /// Runs a closure on the first signal. The second signal ends the program at once.
    public static func first(_ body: @escaping @Sendable (Int32) -> Void) {
        let input = bell.read
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // A signal handler runs on any thread at any moment. `write` is one of the few functions allowed in it.
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(bell.write, &byte, 1)
            }
        }
        Thread.detachNewThread {
            guard let number = next(from: input) else { return }
            body(number)
            if let number = next(from: input) { leave(number) }
        }
    }

    private nonisolated static func next(from input: Int32) -> Int32? {
        var byte: UInt8 = 0
        while true {
            let count = read(input, &byte, 1)
            if count == 1 { return Int32(byte) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Ends the program at once, without waiting for other threads.
    private nonisolated static func leave(_ number: Int32) -> Never {
        _exit(128 + number)
    }
}

/// A pipe from the signal handler to the thread that waits for signals.
private let bell: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    return pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
}()
