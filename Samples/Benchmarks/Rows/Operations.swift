import Foundation
import IDMCore
import IDMOperations

/// Operations in a queue, and graphs of providers.
enum Operations {
    static let rows: [Benchmark] = [
        .time(
            "operation around a provider", ours, against: bare, limit: .times(1.3), operations: 2_000),
        .growth(
            "graph of 10,000 nodes, a node", graph, from: 1_000, to: 10_000, against: "a node of 1,000",
            limit: .times(1.2)),
    ]

    private static let ours = side("DataProviderOperation") { input, tally in
        DataProviderOperation(Increment(), input).onSuccess { tally.add($0) }
    }

    private static let bare = side("a bare Operation") { input, tally in
        BareOperation(Increment(), input) { tally.add($0) }
    }

    private static func side(
        _ name: String, _ make: @escaping @Sendable (Int, Tally) -> Operation
    ) -> Side {
        Side(name, proof: { sum(of: $0, plus: 1) }) { operations in
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 2
            let tally = Tally(expecting: operations)
            for input in 0..<operations { queue.addOperation(make(input, tally)) }
            return await tally.sum()
        }
    }

    /// A graph in which each node depends on the previous node and on a distant one.
    private static let graph = Side("OperationGraph", proof: { sum(of: $0, plus: 1) }) { operations in
        var graph = OperationGraph<Void>()
        let tally = Tally(expecting: operations)
        var nodes: [OperationNode<Int>] = []
        for input in 0..<operations {
            let node = graph.add("\(input)", ClosureDataProvider { (_: Void) in input + 1 })
            if input > 0 { graph.addDependency(of: node, on: nodes[input - 1]) }
            if input > 1 { graph.addDependency(of: node, on: nodes[input / 2]) }
            nodes.append(node)
        }
        let results = try await graph.request()
        for node in nodes { tally.add(results[node] ?? 0) }
        return await tally.sum()
    }
}
