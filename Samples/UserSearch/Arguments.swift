/// What the program was asked for.
enum Arguments {
    case query(String)
    case help
    case mistake(String)

    static let usage = """
        usage: UserSearch <query>

        Searches a small directory of users. The query is typed letter by letter, and each letter searches at once: the
        handlers of the call that it replaces hear onCancel with the reason .superseded.

        options:
          --help   prints this
        """

    init(_ arguments: some Collection<String>) {
        if arguments.contains(where: { $0 == "--help" || $0 == "-h" }) {
            self = .help
        } else if let option = arguments.first(where: { $0.hasPrefix("-") }) {
            self = .mistake("there is no option \(option).")
        } else if let query = arguments.first, arguments.count == 1, !query.isEmpty {
            self = .query(query)
        } else {
            self = .mistake(arguments.isEmpty ? "what are you looking for?" : "one query at a time, please.")
        }
    }
}
