import Foundation
import IDMCore
import IDMOperations
import TestSupport
import Testing

extension Surroundings {
    @MainActor
    fileprivate static func call(
        users: Integrator<String, [String]>, queue: OperationQueue, list: Screen
    ) async throws {
        // sample: an operation around a call with handlers
        let search = IntegrationOperation(users.prepareCall("apple").onSuccess { users in list.show(users) })
        queue.addOperation(search)
        // end
        #expect(try await search.value == ["apple"])
    }

    fileprivate static func operations(load: LoadImage) async throws {
        // sample: operations as a provider
        let resize = OperationDataProvider { image in
            ResizeOperation(image)
        } output: {
            $0.resized
        }
        let thumbnails = load >>>> resize
        // end
        _ = try await thumbnails.request("apple")
    }

    fileprivate static func graph(account: Account) async throws {
        // sample: a graph, and the value of a node
        var graph = OperationGraph<Account>()
        let categories = graph.add("categories", CategoriesProvider())
        let store = graph.add("store", StoreProvider(), from: categories)
        graph.add("notifications", NotificationsProvider(), after: store)

        let results = try await graph.request(account)
        print(results[store] ?? 0)
        // end
        #expect(results[store] == 1)
    }

    fileprivate static func registry() throws {
        struct HTTPClient: Sendable {}
        struct Inbox: Sendable { let client: HTTPClient }

        // sample: services of a session
        let services = ServiceRegistry()
        services.register { _ in HTTPClient() }
        services.register(lifetime: .scope) { services in Inbox(client: try services.service()) }

        let session = services.makeScope()
        let inbox: Inbox = try session.service()
        session.close()
        // end
        _ = inbox
    }
}

@Suite("Samples of the comments on operations", .timeLimit(.ample))
@MainActor
struct OperationCommentSamples {
    @Test func `an operation around a call`() async throws {
        try await Surroundings.call(users: Integrator(UserDataProvider()), queue: OperationQueue(), list: Screen())
    }

    @Test func `operations as a provider`() async throws { try await Surroundings.operations(load: LoadImage()) }
    @Test func `a graph`() async throws { try await Surroundings.graph(account: Account()) }
    @Test func `services of a session`() throws { try Surroundings.registry() }
}
