import Foundation
import IDMCore
import IDMOperations
import TestSupport
import Testing

@Suite("The samples of the pages on operations", .timeLimit(.ample))
@MainActor
struct OperationsSamples {
    private let account = Account()
    private let queue = OperationQueue()
    private let list = Screen()
    private let banner = Screen()
    private let spinner = Screen()

    @Test func `an operation in a queue`() async throws {
        // sample: an operation around a provider
        let load = DataProviderOperation(UserDataProvider(), "apple")
            .onSuccess { users in list.show(users) }
            .onError { error in banner.show(error) }
        queue.addOperation(load)
        // end
        #expect(try await load.value == ["apple"])
    }

    @Test func `operations that are followed, paused and cancelled`() async throws {
        // sample: an operation with handlers
        let sync = DataProviderOperation(CategoriesProvider(), account)
            .onBeginning { spinner.start() }
            .onSuccess { categories in list.show(categories) }
            .onCompletion { spinner.stop() }
        queue.addOperation(sync)
        // end
        // sample: pause, resume, cancel
        sync.pause()
        sync.resume()
        sync.cancel()
        // end
        try await sync.finished()
        #expect(sync.outcome == .cancelled(.cancelled))
        let users = Integrator(UserDataProvider())
        // sample: an operation around a call
        queue.addOperation(IntegrationOperation(users.prepareCall("apple")))
        // end
    }

    @Test func `operations that depend on one another`() async throws {
        // sample: dependencies
        let categories = DataProviderOperation(CategoriesProvider(), account)
        let store = DataProviderOperation(StoreProvider(), from: categories) { $0 }
        let badge = DataProviderOperation(BadgeProvider(), account).require(store)
        // end
        let operations: [Operation] = [badge, store, categories]
        for operation in operations { queue.addOperation(operation) }
        #expect(try await badge.value == 1)
        #expect(store.outcome == .success(1))
    }

    @Test func `a provider that can pause`() async throws {
        #expect(try await Uploader().request(["one", "two"]) == 2)
    }

    @Test func `an operation as a provider`() async throws {
        // sample: a provider around operations
        let resize = OperationDataProvider { (image: Image) in
            ResizeOperation(image)
        } output: {
            $0.resized
        }
        let thumbnails = LoadImage() >>>> resize
        // end
        _ = try await thumbnails.request("apple")
    }

    @Test func `a small graph`() async throws {
        // sample: a graph
        var graph = OperationGraph<Account>()
        let categories = graph.add("categories", CategoriesProvider())
        let store = graph.add("store", StoreProvider(), from: categories)
        graph.add("notifications", NotificationsProvider(), after: store)

        let results = try await graph.request(account)
        // end
        #expect(results[store] == 1)
    }

    @Test func `a graph whose nodes have several inputs`() async throws {
        // sample: a graph with several inputs
        var graph = OperationGraph<Account>(width: 4)
        let categories = graph.add("categories", CategoriesProvider())
        let friends = graph.add("friends", FriendsProvider())
        let store = graph.add("store", StoreProvider(), from: categories, friends) {
            account, categories, friends in
            categories + friends
        }
        graph.add("badge", BadgeProvider(), after: store)
        // end
        // sample: the results of a graph
        let results = try await graph.request(account)
        print(results[store] ?? 0, results.skipped)
        // end
        #expect(results[store] == 2)
        #expect(
            graph.outline == """
                categories
                friends
                store      ◀─ categories, friends
                badge      ◀─ store
                """)
        // sample: a run that is paused
        let run = graph.start(account)
        run.pause(categories)
        run.pause()
        run.resume()
        run.resume(categories)
        print(run.resultsSoFar.skipped)
        let done = try await run.results
        // end
        #expect(done[store] == 2)
    }

    @Test func `services and scopes`() async throws {
        // sample: a registry
        let services = ServiceRegistry()
        services.register { _ in Client() }
        services.register((any UserLoading).self) { services in
            RemoteUsers(client: try services.service())
        }

        let loading = try await services.service((any UserLoading).self)
        // end
        #expect(loading is RemoteUsers)
        // sample: a scope
        services.register(lifetime: .scope) { services in Inbox(client: try services.service()) }

        let session = services.makeScope()
        let inbox: Inbox = try await session.service()
        session.close()
        // end
        withExtendedLifetime(inbox) {}
        // sample: a stand-in
        services.register((any UserLoading).self) { _ in StubUsers() }
        // end
        #expect(try await services.service((any UserLoading).self) is StubUsers)
    }
}

// sample: a provider that can pause
struct Uploader: DataProvider {
    func request(_ parts: [String]) async throws -> Int {
        for part in parts {
            try await PauseControl.checkpoint()
            try await send(part)
        }
        return parts.count
    }
}
// end
