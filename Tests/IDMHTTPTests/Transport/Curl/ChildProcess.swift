#if os(Linux)
import Foundation

/// A tool of the system that a test runs.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts a tool. Nil if the system has none of that name.
    init?(_ tool: String, _ arguments: [String], in folder: URL? = nil) throws {
        let path = ProcessInfo.processInfo.environment["PATH", default: "/usr/bin:/bin"]
        let candidates = path.split(separator: ":").map { "\($0)/\(tool)" }
        guard let file = candidates.first(where: FileManager.default.isExecutableFile) else { return nil }
        process.executableURL = URL(fileURLWithPath: file)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = input
        try process.run()
    }

    // A child may have inherited a mask that blocks the signal of `terminate()`.
    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// The next line of the tool's output.
    func readLine() -> String? {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Writes a line to the tool, and returns the next line of its output.
    func reply(to line: String) -> String? {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        return readLine()
    }

    /// Everything that a tool writes. Nil if there is no such tool.
    static func output(_ tool: String, _ arguments: [String], in folder: URL? = nil) throws -> Data? {
        guard let child = try ChildProcess(tool, arguments, in: folder) else { return nil }
        let output = try child.output.fileHandleForReading.readToEnd() ?? Data()
        child.process.waitUntilExit()
        return output
    }
}
#endif
