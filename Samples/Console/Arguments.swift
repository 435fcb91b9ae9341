import Foundation

/// The parsed command line of a sample. `--help` prints the usage and ends the program. An invalid argument prints one
/// line and ends it with the code 2.
public struct Arguments {
    /// The given options without a value.
    public let flags: Set<String>
    /// The given options with a value.
    public let values: [String: String]
    /// The arguments that are no options.
    public let operands: [String]
    private let program: String

    /// Parses the command line.
    ///
    /// - Parameters:
    ///   - program: The program's name, with which every error message begins.
    ///   - usage: The text of `--help`.
    ///   - flags: The options without a value.
    ///   - options: The options with a value.
    ///   - files: The options whose value is the name of a file to write.
    ///   - operands: The names of the required operands, in their order.
    ///   - optional: The number of optional operands after them.
    public init(
        _ program: String, usage: String, flags: Set<String> = [], options: Set<String> = [],
        files: Set<String> = [], operands: [String] = [], optional: Int = 0
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
        if words.count < operands.count {
            Self.leave(program, "\(operands[words.count]) is missing. Try --help.", 2)
        }
        if words.count > operands.count + optional {
            Self.leave(program, "\(words[operands.count + optional]) is one argument too many. Try --help.", 2)
        }
        // Checked before the work, not after it.
        for file in files.compactMap({ values[$0] }) where !Self.mayBeWritten(file) {
            Self.leave(program, "\(file) can't be written.", 2)
        }
        self.flags = found
        self.values = values
        self.operands = words
        self.program = program
    }

    /// Writes a text to the file that an option names. Does nothing without the option.
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

    /// Creates the folder that an operand or an option names, unless it exists.
    public func folder(_ path: String) -> URL {
        guard !path.isEmpty else { leave("the name of the folder is empty. Try --help.", code: 2) }
        let folder = URL(fileURLWithPath: path)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            leave("\(path) can't be a folder: \(error.localizedDescription)", code: 2)
        }
        return folder
    }

    /// Ends the program with a line on the standard error. Code 2 is for invalid arguments, code 1 for failed work.
    public func leave(_ reason: String, code: Int32) -> Never {
        Self.leave(program, reason, code)
    }

    private static func leave(_ program: String, _ reason: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data("\(program): \(reason)\n".utf8))
        exit(code)
    }
}
