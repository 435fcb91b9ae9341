import IDMHTTP
import IDMTesting

/// The answers for requests of a method to a path.
struct Route<Request: Sendable, Answer: Sendable>: Sendable {
    enum Supply: Sendable {
        case endless(Answer)
        case counted([Answer])
        case computed(@Sendable (Request) async throws -> Answer)
    }

    let method: ServiceRequest.Method?
    let pattern: PathPattern
    let supply: Supply
    let place: SourcePlace
    fileprivate(set) var asked = 0
    /// True if the missing requests have been reported.
    fileprivate var isTold = false

    init(_ method: ServiceRequest.Method?, _ path: String, _ supply: Supply, _ place: SourcePlace) {
        self.method = method
        pattern = PathPattern(path)
        self.supply = supply
        self.place = place
    }

    /// The method and the path.
    fileprivate var words: String { "\(method.map { "\($0) " } ?? "")\(pattern.source)" }

    /// The route in a sentence.
    var name: String { "The route \(words)" }

    fileprivate mutating func takeLeftover() -> TestFailure? {
        guard !isTold, let leftover else { return nil }
        isTold = true
        return leftover
    }

    private var leftover: TestFailure? {
        switch supply {
        case .endless where asked == 0, .computed where asked == 0:
            TestFailure("\(name) expected a request, and none came.", at: place)
        case .counted(let answers) where asked < answers.count:
            TestFailure("\(name) expected \(answers.count.requests), and \(asked.orNone) came.", at: place)
        default: nil
        }
    }
}

/// The routes of a server, or of a transport.
struct Routes<Request: Sendable, Answer: Sendable>: Sendable {
    typealias Entry = Route<Request, Answer>

    /// The answer for a request.
    enum Choice: Sendable {
        case answer(Answer)
        case compute(@Sendable (Request) async throws -> Answer, Entry)
        /// The route has no answer left, or there is no route: then there is no place either.
        case none(String, SourcePlace?)
    }

    private var routes: [Entry] = []
    /// Failures that were found when the routes were released, and that haven't been reported.
    private var settled: [TestFailure] = []

    mutating func add(_ route: Entry) {
        routes.append(route)
    }

    /// Takes an answer to a request, and what stands in the place of the names in its route's path.
    mutating func take(
        _ method: ServiceRequest.Method, _ target: String
    ) -> (choice: Choice, parameters: [String: String]) {
        let path = target.prefix { $0 != "?" }
        // What answers GET answers HEAD, but for a route that was made for HEAD.
        let found =
            method == .head
            ? find(path) { $0 == .head } ?? find(path) { $0 == nil || $0 == .get }
            : find(path) { $0 == nil || $0 == method }
        guard let (index, parameters) = found else {
            let expected = routes.isEmpty ? "There are no routes." : "The routes: \(routes.map(\.words).inWords)."
            return (.none("A request that no route is for: \(method) \(target). \(expected)", nil), [:])
        }
        routes[index].asked += 1
        let route = routes[index]
        switch route.supply {
        case .endless(let answer): return (.answer(answer), parameters)
        case .computed(let body): return (.compute(body, route), parameters)
        case .counted(let answers) where route.asked <= answers.count:
            return (.answer(answers[route.asked - 1]), parameters)
        case .counted(let answers):
            let expected = answers.isEmpty ? "no request" : "no more than \(answers.count.requests)"
            let words = "\(route.name) expected \(expected), and request \(route.asked) came: \(method) \(target)"
            return (.none(words, route.place), parameters)
        }
    }

    private func find(
        _ path: Substring, where answers: (ServiceRequest.Method?) -> Bool
    ) -> (index: Int, parameters: [String: String])? {
        for index in routes.indices.reversed() where answers(routes[index].method) {
            if let parameters = routes[index].pattern.parameters(of: path) { return (index, parameters) }
        }
        return nil
    }

    /// The routes that expect more, each once.
    mutating func takeLeftovers() -> [TestFailure] {
        defer { settled = [] }
        return settled + routes.indices.compactMap { routes[$0].takeLeftover() }
    }

    /// Releases the routes, and keeps the failures of unused ones. The caller releases the result outside of its lock.
    mutating func settle() -> [Entry] {
        settled = takeLeftovers()
        defer { routes = [] }
        return routes
    }
}
