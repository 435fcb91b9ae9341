/// What the program was asked for.
enum Arguments {
    case run(Effort, filter: String, asJSON: Bool)
    case compare(String, String)
    case help
    case mistake(String)

    static let usage = """
        usage: Benchmarks [--quick] [--filter <text>] [--json]
               Benchmarks compare <before> <after>

        Measures this library beside what one would write by hand, in the same run, and prints a table:

          ours, by hand  The least that one operation took in any round, and the median of the rounds in brackets.
          ratio          Our least by the other's, or for a limit with a +, the difference of the two. Where all cores
                         contend, our median by the other's.
          limit          What is aimed at: "≤ 1.15 ×" and "≤ +350 ns" hold the ratio or the difference, others our figure.
                         A row that misses it is marked "over". Nothing fails over it.
          allocations    For one operation, ours and by hand. A dash where the platform doesn't tell.
          instructions   The same. Told on Apple's machines, and on Linux by those whose counter this process may read:
                         few virtual ones.

        The sides take turns, ours first, after a round that is not counted. The least is what the work costs when nothing
        disturbs it; where it is far from the median, the machine was busy. Threads that contend disturb one another, and that
        is the work: in the round of the least they happened not to meet, so the median counts there. Each side proves by a
        sum or a count that it did its work: one that didn't ends the program with the code 1.

        Allocations are counted in the whole process, in runs of their own, on Linux with the GNU C library. What the first
        thousand operations allocate is taken off what two thousand do. "The 3 closures alone" are what any user of a call
        allocates: the rest is the library's own, the task of the call included.

        compare reads two reports that --json has printed, and shows the rows of both beside each other. The change is that of
        the ratio, where there is one: what slowed the machine down slowed down both sides of it.

        options:
          --quick          fewer and shorter rounds
          --filter <text>  only the rows whose names contain the text
          --json           prints a report for compare, and for other programs, in the place of the table
          --help           prints this
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
