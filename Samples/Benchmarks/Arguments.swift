/// The parsed command line.
enum Arguments {
    case run(Effort, filter: String, asJSON: Bool)
    case compare(String, String)
    case help
    case mistake(String)

    static let usage = """
        usage: Benchmarks [--quick] [--filter <text>] [--json]
               Benchmarks compare <before> <after>

        Measures this library against hand-written code in the same run, and prints a table:

          ours, by hand  The minimum per operation over all rounds, and the median in brackets.
          ratio          Our minimum divided by theirs. For a limit with a +, the difference. Where all cores contend, the
                         ratio of the medians.
          limit          The target: "≤ 1.15 ×" and "≤ +350 ns" apply to the ratio or the difference, others to our figure.
                         A row that misses it is marked "over". No row fails the run.
          allocations    Per operation, ours and by hand. A dash where the platform doesn't count them.
          instructions   Per operation, ours and by hand. Counted on Apple platforms, and on Linux machines whose counter
                         this process may read (few virtual machines).

        The sides alternate, ours first, after one uncounted round. The minimum is the cost of undisturbed work. A minimum far
        below the median means that the machine was busy. Threads that contend are part of the work: in the fastest round they
        happened not to contend, so these rows use the median. Each side proves its work by a sum or a count. A side that
        didn't do its work ends the program with the code 1.

        Allocations are counted in the whole process, in separate runs, on Linux with the GNU C library: the count of 2000
        operations minus that of the first 1000. "The 3 closures alone" is the part that every user of a call allocates. The
        rest is the library's, including the task of the call.

        compare reads two reports that were printed by --json, and prints their rows side by side. The change is that of the
        ratio where a row has one, because the load of the machine affects both sides.

        options:
          --quick          runs fewer and shorter rounds
          --filter <text>  runs only the rows whose names contain the text
          --json           prints a report for compare and other programs instead of the table
          --help           prints this text
        """

    init(_ arguments: some Collection<String>) {
        var effort = Effort.full
        var filter = ""
        var isJSON = false
        var rest = arguments[...]
        if rest.first == "compare", !rest.contains(where: { $0 == "--help" || $0 == "-h" }) {
            let paths = Array(rest.dropFirst())
            self = paths.count == 2 ? .compare(paths[0], paths[1]) : .mistake("compare needs two reports.")
            return
        }
        while let option = rest.popFirst() {
            switch option {
            case "--help", "-h":
                self = .help
                return
            case "--quick":
                effort = .quick
            case "--json":
                isJSON = true
            case "--filter":
                guard let text = rest.popFirst() else {
                    self = .mistake("--filter needs a text.")
                    return
                }
                filter = text
            default:
                self = .mistake(option.hasPrefix("-") ? "there is no option \(option)." : "what is \(option)?")
                return
            }
        }
        self = .run(effort, filter: filter, asJSON: isJSON)
    }
}
