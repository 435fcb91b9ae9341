import Counters
import Foundation

/// How much memory a process holds, where the platform tells: on Linux.
enum Peak {
    /// How much more memory the process held at some moment of the work than before it.
    static func growth(_ work: () async throws -> Void) async throws -> Int? {
        // What earlier work has given back is the system's again, and doesn't hide what this work takes.
        allocation_counter_trim()
        guard let before = figure("VmRSS"), reset() else { return nil }
        try await work()
        return figure("VmHWM").map { max($0 - before, 0) }
    }

    private static func figure(_ name: String) -> Int? {
        Machine.status(name).map { $0 << 10 }
    }

    /// Lets the system forget the peak so far.
    private static func reset() -> Bool {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return false }
        return (try? file.write(contentsOf: Data("5".utf8))) != nil
    }
}
