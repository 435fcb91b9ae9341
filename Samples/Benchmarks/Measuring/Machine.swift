import Foundation

/// What the system tells of this process.
enum Machine {
    static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// The system, and whether it runs what the optimizer has seen.
    static var system: String {
        ProcessInfo.processInfo.operatingSystemVersionString + (isOptimized ? "" : ", not optimized")
    }

    static var isOptimized: Bool {
        #if DEBUG
        false
        #else
        true
        #endif
    }

    /// How many threads there are, where the system keeps its books in files.
    static var threads: Int? { status("Threads") }

    /// A number from the books of this process. Sizes are in kilobytes.
    static func status(_ name: String) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
}
