import Foundation

/// System information about this process.
enum Machine {
    static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// The system, and whether the build is optimized.
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

    /// The number of threads, where the system has /proc.
    static var threads: Int? { status("Threads") }

    /// A number from /proc/self/status. Sizes are in kilobytes.
    static func status(_ name: String) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
}
