import Counters
import Foundation

/// Measures the memory of the process, on Linux.
enum Peak {
    /// The peak of the process's memory during the work, minus the memory before it.
    static func growth(_ work: () async throws -> Void) async throws -> Int? {
        // Returns freed memory to the system first, so that it doesn't hide the memory of this work.
        allocation_counter_trim()
        guard let before = figure("VmRSS"), reset() else { return nil }
        try await work()
        return figure("VmHWM").map { max($0 - before, 0) }
    }

    private static func figure(_ name: String) -> Int? {
        Machine.status(name).map { $0 << 10 }
    }

    /// Resets the peak of the process.
    private static func reset() -> Bool {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return false }
        return (try? file.write(contentsOf: Data("5".utf8))) != nil
    }
}
