import Foundation

/// Control-C, and whatever else ends the program from outside.
@MainActor
public enum Interrupt {
    /// Does something when it comes, and ends the program then, with the code that shells expect.
    public static func handle(_ body: @escaping @Sendable () -> Void) {
        first { number in
            body()
            leave(number)
        }
    }

    /// Does something when it comes for the first time. The second time the program ends, whatever it is doing.
    public static func first(_ body: @escaping @Sendable (Int32) -> Void) {
        let input = bell.read
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // It may come on any thread at any moment, where next to nothing is allowed. To write is.
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

    /// Ends the program at once: what others are doing isn't waited for.
    private nonisolated static func leave(_ number: Int32) -> Never {
        _exit(128 + number)
    }
}

/// The two ends of a pipe, through which a signal reaches a thread that waits for it.
private let bell: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    return pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
}()
