internal import IDMFiles

/// The process that writes a file, as its name says: its number, when it was started, and a number of its own. In a
/// container, each process may have the number of one before it.
struct FileOwner: Sendable {
    private static let ownRun = UInt64.random(in: .min ... .max)

    private let process: Int32
    /// Nil if it isn't known, or if the name is one of an earlier version.
    private let start: UInt64?
    private let run: UInt64?

    /// This process.
    init(_ process: Int32) {
        self.process = process
        start = Self.start(of: process)
        run = Self.ownRun
    }

    /// Reads what ``description`` was. Nil for any other text.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let process = Int32(first), parts.count == 1 || parts.count == 3 else {
            return nil
        }
        self.process = process
        start = parts.count == 3 ? UInt64(parts[1], radix: 16) : nil
        run = parts.count == 3 ? UInt64(parts[2], radix: 16) : nil
    }

    /// Returns true if the process has ended; false if that can't be found out.
    func hasEnded(seenBy own: FileOwner) -> Bool {
        guard SystemProcess(process).isRunning else { return true }
        if process == own.process, let run { return run != own.run }
        guard let start, let current = Self.start(of: process) else { return false }
        return start != current
    }

    /// Returns the start time of a process, as a number that is unique across restarts of the machine.
    private static func start(of process: Int32) -> UInt64? {
        guard MachineStart.digest != .zero else { return nil }
        return SystemProcess(process).start.map { $0 ^ MachineStart.current }
    }
}

extension FileOwner: CustomStringConvertible {
    /// The owner as it stands in names of files.
    var description: String {
        "\(process)." + (start.map { String($0, radix: 16) } ?? "") + "." + (run.map { String($0, radix: 16) } ?? "")
    }
}
