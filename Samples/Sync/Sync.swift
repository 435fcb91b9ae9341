import Console
import Foundation
import IDMCore
import IDMOperations

/// Loads categories, stores them, loads notifications, stores them, and finishes. Does so three times: as composed
/// providers, as a graph and as operations.
@main
struct Sync {
    static let usage = """
        usage: Sync

        Runs the same synchronization three times: as composed providers, as a graph, and as operations.

        options:
          --help   prints this text
        """

    static func main() async {
        let arguments = Arguments("Sync", usage: usage)
        do {
            let results = [try await composed(), try await graph(), try await operations()]
            guard Set(results).count == 1 else { arguments.leave("the results differ: \(results)", code: 1) }
            print("\nAll three results are equal.")
        } catch {
            arguments.leave("\(error)", code: 1)
        }
    }

    /// 2. Composed providers: the order is one expression. The shortest form of a chain.
    static func composed() async throws -> String {
        print("as providers   categories >>>> store >>>> notifications >>>> store >>>> finish")
        let store = Store()
        let sync =
            Categories() >>>> store >>>> Notifications(store: store).mapInput { (_: Int) in } >>>> store
            >>>> Finish(store: store)
        return try await report(sync.request())
    }

    /// 3. A graph: each node names its dependencies, independent nodes run at the same time, and the graph has an
    ///    outline.
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

    /// 4. Operations: for an app whose work is in an operation queue, with its priorities and limits.
    static func operations() async throws -> String {
        let store = Store()
        let categories = DataProviderOperation(Categories())
        let stored = DataProviderOperation(store, from: categories) { $0 }.require(categories)
        let notifications = DataProviderOperation(Notifications(store: store)).require(stored)
        let count = DataProviderOperation(store, from: notifications) { $0 }.require(notifications)
        let finish = DataProviderOperation(Finish(store: store), from: count) { $0 }.require(count)
        print("\nas operations  in a queue, each operation depends on the previous one")
        let queue = OperationQueue()
        for operation in [finish, count, notifications, stored, categories] { queue.addOperation(operation) }
        return try await report(finish.value)
    }

    /// 5. The result is the same each time.
    static func report(_ result: String) -> String {
        print("               " + result)
        return result
    }
}
