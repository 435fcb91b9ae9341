import Console
import Foundation
import IDMCore
import IDMOperations

/// Categories, then the store, then notifications, then the store, and a step to finish with: three times the same, as
/// composed providers, as a graph and as operations.
@main
struct Sync {
    static let usage = """
        usage: Sync

        Synchronizes three times: as composed providers, as a graph, as operations.

        options:
          --help   prints this
        """

    static func main() async {
        let arguments = Arguments("Sync", usage: usage)
        do {
            let results = [try await composed(), try await graph(), try await operations()]
            guard Set(results).count == 1 else { arguments.leave("They differ: \(results)", code: 1) }
            print("\nAll three have done the same.")
        } catch {
            arguments.leave("\(error)", code: 1)
        }
    }

    /// 2. As composed providers: the order stands in one line. For what is a chain, there is nothing shorter.
    static func composed() async throws -> String {
        print("as providers   categories >>>> store >>>> notifications >>>> store >>>> finish")
        let store = Store()
        let sync =
            Categories() >>>> store >>>> Notifications(store: store).mapInput { (_: Int) in } >>>> store
            >>>> Finish(store: store)
        return try await report(sync.request())
    }

    /// 3. As a graph: each node names what it waits for, what doesn't wait for another runs beside it, and one can look
    ///    at it.
    static func graph() async throws -> String {
        let store = Store()
        var graph = OperationGraph<Void>()
        let categories = graph.add("categories", Categories())
        let stored = graph.add("store categories", store, from: categories)
        let notifications = graph.add("notifications", Notifications(store: store), after: stored)
        let count = graph.add("store notifications", store, from: notifications)
        let finish = graph.add("finish", Finish(store: store), from: count)
        print("\nas a graph")
        for line in graph.outline.split(separator: "\n") { print("               " + line) }
        return try await report(graph.request()[finish] ?? "nothing")
    }

    /// 4. As operations: for an app whose work stands in a queue, with priorities and limits of its own.
    static func operations() async throws -> String {
        let store = Store()
        let categories = DataProviderOperation(Categories())
        let stored = DataProviderOperation(store, from: categories) { $0 }.require(categories)
        let notifications = DataProviderOperation(Notifications(store: store)).require(stored)
        let count = DataProviderOperation(store, from: notifications) { $0 }.require(notifications)
        let finish = DataProviderOperation(Finish(store: store), from: count) { $0 }.require(count)
        print("\nas operations  in a queue, each with the one before it as its dependency")
        let queue = OperationQueue()
        for operation in [finish, count, notifications, stored, categories] { queue.addOperation(operation) }
        return try await report(finish.value)
    }

    /// 5. Whichever way it came about, the result is the same.
    static func report(_ result: String) -> String {
        print("               " + result)
        return result
    }
}
