import Foundation
import IDMHTTPTesting

/// A server inside this program, with a few users. It answers after a pause, as a remote server does.
enum BundledServer {
    static func start() throws -> LoopbackServer {
        let server = try LoopbackServer(remembers: false)
        server.on(.get, "/search/users") { request in
            let query = URLComponents(string: request.target)?.queryItems ?? []
            let text = query.first { $0.name == "q" }?.value?.lowercased() ?? ""
            let found = people.filter { $0.login.lowercased().contains(text) }.prefix(8)
            return answer("{\"items\": [" + found.map { "{\"login\": \"\($0.login)\"}" }.joined(separator: ", ") + "]}")
        }
        server.on(.get, "/users/{login}") { request in
            guard let person = person(in: request) else { return .status(404) }
            return answer(
                """
                {"login": "\(person.login)", "name": "\(person.name)", "location": "\(person.place)",
                "public_repos": \(person.repositories.count)}
                """)
        }
        server.on(.get, "/users/{login}/repos") { request in
            guard let person = person(in: request) else { return .status(404) }
            let repositories = person.repositories.map { "{\"name\": \"\($0.0)\", \"stargazers_count\": \($0.1)}" }
            return answer("[" + repositories.joined(separator: ", ") + "]")
        }
        return server
    }

    private static func answer(_ json: String) -> LoopbackServer.Answer {
        .json(json).waiting(.milliseconds(300), on: ContinuousClock())
    }

    private static func person(in request: LoopbackServer.Request) -> Person? {
        people.first { $0.login == request.parameters["login"] }
    }

    private struct Person {
        let login: String
        let name: String
        let place: String
        let repositories: [(String, Int)]
    }

    private static let people = [
        Person(login: "anna-april", name: "Anna April", place: "Porto", repositories: [("calendar", 12)]),
        Person(
            login: "appleseed", name: "Jo Appleseed", place: "Leominster",
            repositories: [("orchard", 310), ("cider", 1)]),
        Person(login: "apple-baker", name: "Bo Baker", place: "Bath", repositories: [("pie", 45)]),
        Person(login: "appolonia", name: "Appolonia Ray", place: "Minneapolis", repositories: []),
        Person(login: "banana-bread", name: "Nana Brod", place: "Quito", repositories: [("loaf", 7)]),
        Person(login: "cherry", name: "Cher Rybak", place: "Kyiv", repositories: [("stone", 2)]),
        Person(login: "Pineapple", name: "Pia Nott", place: "Hilo", repositories: [("ring", 18), ("upside-down", 3)]),
        Person(login: "plum-and-apples", name: "Plum Wong", place: "Perth", repositories: [("jam", 1)]),
    ]
}
