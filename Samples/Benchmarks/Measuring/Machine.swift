import Foundation

/// What the system tells of this process.
enum Machine {
    static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }

    static var system: String { ProcessInfo.processInfo.operatingSystemVersionString }

    /// How many threads there are, where the system keeps its books in files.
    static var threads: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) }
    }
}
