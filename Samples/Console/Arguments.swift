import Foundation

/// What a program was asked for on its command line. Asked for `--help`, it prints how it is used and ends; asked for
/// what it doesn't know, it says so in one line and ends with the code 2.
public struct Arguments {
    /// The options without a value that were given.
    public let flags: Set<String>
    /// The options with a value that were given.
    public let values: [String: String]
    /// Everything that is no option.
    public let operands: [String]
    private let program: String

    /// Reads the command line.
    ///
    /// - Parameters:
    ///   - program: The program's name, as the mistakes are to begin with.
    ///   - usage: What `--help` prints.
    ///   - flags: The options that stand alone.
    ///   - options: The options that are followed by a value.
    ///   - files: The options that are followed by the name of a file that is to be written.
    ///   - operands: How many words that are no options there may be.
    public init(
        _ program: String, usage: String, flags: Set<String> = [], options: Set<String> = [],
        files: Set<String> = [], operands: ClosedRange<Int> = 0...0
    ) {
        Output.showEachLine()
        var (found, values, words): (Set<String>, [String: String], [String]) = ([], [:], [])
        var rest = CommandLine.arguments.dropFirst()
        if rest.contains(where: { $0 == "--help" || $0 == "-h" }) {
            print(usage)
            exit(0)
        }
        while let word = rest.popFirst() {
            if flags.contains(word) {
                found.insert(word)
            } else if options.contains(word) || files.contains(word) {
                guard let value = rest.popFirst(), !value.isEmpty else {
                    Self.leave(program, "\(word) needs a value. Try --help.", 2)
                }
                values[word] = value
            } else if word.hasPrefix("-"), word != "-" {
                Self.leave(program, "there is no option \(word). Try --help.", 2)
            } else {
                words.append(word)
            }
        }
        guard operands.contains(words.count) else {
            let complaint = words.count < operands.lowerBound ? "something is missing" : "that is too much"
            Self.leave(program, "\(complaint). Try --help.", 2)
        }
        // Before the work, and not after it.
        for file in files.compactMap({ values[$0] }) where !Self.mayBeWritten(file) {
            Self.leave(program, "\(file) can't be written.", 2)
        }
        self.flags = found
        self.values = values
        self.operands = words
        self.program = program
    }

    /// Writes a text into the file that an option names, if it was given.
    public func write(_ text: @autoclosure () -> String, toFileOf option: String) {
        guard let path = values[option] else { return }
        do {
            try text().write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            leave("\(path) can't be written: \(error.localizedDescription)", code: 1)
        }
    }

    private static func mayBeWritten(_ path: String) -> Bool {
        let file = URL(fileURLWithPath: path)
        return !file.hasDirectoryPath
            && FileManager.default.isWritableFile(atPath: file.deletingLastPathComponent().path)
    }

    /// Makes the folder that an operand or an option names, unless it is there.
    public func folder(_ path: String) -> URL {
        guard !path.isEmpty else { leave("a folder needs a name. Try --help.", code: 2) }
        let folder = URL(fileURLWithPath: path)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            leave("\(path) can't be a folder: \(error.localizedDescription)", code: 2)
        }
        return folder
    }

    /// Ends the program with a line on the standard error: with the code 2 over its arguments, with 1 over its work.
    public func leave(_ reason: String, code: Int32) -> Never {
        Self.leave(program, reason, code)
    }

    private static func leave(_ program: String, _ reason: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data("\(program): \(reason)\n".utf8))
        exit(code)
    }
}
