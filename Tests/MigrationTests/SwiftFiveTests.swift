import IDMCore
import Testing

/// Code as it was written for IDMCore 1.x and 2.x: every shape that the README of the original shows. This target is
/// compiled in Swift 5 mode, as an app is that hasn't moved to Swift 6 yet. All that the compiler reports are the
/// deprecations, and the types are deprecated themselves so that it doesn't.
@Suite("Code for IDMCore 1.x and 2.x in Swift 5 mode", .timeLimit(.minutes(10)))
struct SwiftFiveTests {
    private protocol Old: Sendable {
        func screen() async -> [String]
        func services() async -> [String]
    }

    private struct Uses: Old {
        @available(*, deprecated)
        @MainActor
        func screen() async -> [String] {
            let screen = UsersViewController()
            await withCheckedContinuation { screen.reload(then: $0.resume) }
            return screen.lines
        }

        @available(*, deprecated)
        @MainActor
        func services() async -> [String] {
            let services = Services()
            await withCheckedContinuation { services.preload(then: $0.resume) }
            return services.lines
        }
    }

    private let old: any Old = Uses()

    @Test("An old provider, model and screen compile unchanged and show the users")
    func screen() async {
        #expect(await old.screen() == ["Show loading here", "apple", "Hide loading here"])
    }

    @Test("Old compositions, executing types and chains compile unchanged and run")
    func services() async {
        #expect(await old.services() == ["cache", "server"])
    }
}

/// An HTTP client that calls back, without anything of Swift concurrency.
class Client {
    class Request {
        let query: String
        init(query: String) { self.query = query }

        func responseJSON(_ completion: (Any?) -> Void) {
            completion(["items": [["login": query, "html_url": "https://example.com"]]])
        }

        func cancel() {}
    }

    static func request(_ query: String) -> Request { Request(query: query) }
}

@available(*, deprecated)
struct UserDataProvider: DataProviderProtocol {
    func request(parameters: String?, completion: ((Bool, [String: AnyObject]?, Error?) -> ())?) -> (() -> ())? {
        let request = Client.request(parameters ?? "default")
        request.responseJSON { (value) in
            guard let data = value as? [String: Any] else {
                completion?(false, nil, nil)
                return
            }
            completion?(true, data.mapValues { $0 as AnyObject }, nil)
        }
        return {
            request.cancel()
        }
    }
}

@available(*, deprecated)
struct Users: ModelProtocol {
    var items: [User]?

    init(from data: [String: AnyObject]?) {
        guard data != nil else { return }
        guard let items = data!["items"] as? [[String: Any]] else { return }
        self.items = items.map { User(from: $0.mapValues { $0 as AnyObject }) }
    }
}

@available(*, deprecated)
struct User: ModelProtocol {
    var userName: String?
    var homeUrl: String?

    init(from data: [String: AnyObject]?) {
        guard data != nil else { return }
        userName = data!["login"] as? String
        homeUrl = data!["html_url"] as? String
    }
}

@available(*, deprecated)
struct Named: ModelProtocol {
    let name: String

    init?(from data: String?) {
        guard let data = data else { return nil }
        name = data
    }
}

/// A view controller is bound to the main actor in Swift 5 mode too.
@available(*, deprecated)
@MainActor
class UsersViewController {
    var integrator = MagicalIntegrator(dataProvider: UserDataProvider(), modelType: Users.self)
    var latest = MagicalIntegrator(dataProvider: UserDataProvider(), modelType: Users.self, executingType: .lastest)
    var users: [User] = []
    var lines: [String] = []

    func reload(then done: @escaping () -> Void) {
        integrator
            .prepareCall(parameters: "apple")
            .onBeginning({
                self.lines.append("Show loading here")
            })
            .onSuccess({ (users) in
                self.users = users?.items ?? []
                self.lines.append(self.users.first?.userName ?? "nobody")
            })
            .onError({ (error) in
                self.lines.append("Error: \(error)")
            })
            .onCompletion({
                self.lines.append("Hide loading here")
                done()
            })
            .call()
    }
}

@available(*, deprecated)
struct DataProvider1: DataProviderProtocol {
    func request(parameters: Int?, completion: @escaping (Bool, String?, Error?) -> Void) -> CancelHandler? {
        completion(true, "cache", nil)
        return nil
    }
}

@available(*, deprecated)
struct DataProvider2: DataProviderProtocol {
    @discardableResult
    func request(parameters: String?, completion: @escaping ((Bool, Int?, Error?) -> Void)) -> (() -> Void)? {
        completion(true, 1, nil)
        return {}
    }
}

@available(*, deprecated)
struct DataProvider3: DataProviderProtocol {
    func request(parameters: Int?, completion: @escaping (Bool, String?, Error?) -> Void) -> (() -> Void)? {
        completion(true, "server", nil)
        return nil
    }
}

@available(*, deprecated)
@MainActor
class Services {
    let sequence = AmazingIntegrator(dataProvider: DataProvider2() >>>> DataProvider1())
    let group = AmazingIntegrator(dataProvider: DataProvider1() >><< DataProvider2())
    let named = MagicalIntegrator(dataProvider: DataProvider1(), modelType: Named.self, executingType: .default)
    let queue = AmazingIntegrator(dataProvider: DataProvider2(), executingType: .queue)
    let submit = AmazingIntegrator(dataProvider: DataProvider2(), executingType: .only)
    let integratorCache = AmazingIntegrator(dataProvider: DataProvider1())
    let integratorServer = AmazingIntegrator(dataProvider: DataProvider3())
    var lines: [String] = []

    func preload(then done: @escaping () -> Void) {
        integratorCache
            .prepareCall()
            .onSuccess { (text) in
                self.lines.append(text ?? "nothing")
            }
            .onError({ (error) in
                self.lines.append("\(error)")
            })
            .onCompletion({
                if self.lines.count == 2 { done() }
            })
            .thenRecall(with: integratorServer)
            .nextSuccess(sequence.prepareCall(parameters: "a"))
            .nextError(queue.prepareCall(parameters: "b"))
            .nextCompletion(submit.prepareCall())
            .fowardSuccess(to: queue)
            .call()
    }
}
