import Foundation
import IDMCore
import IDMOperations
import TestSupport
import Testing

@Suite("The structure of operations and graphs", .timeLimit(.ample))
struct GraphStructureTests {
    private struct Categories: DataProvider {
        func request(_ input: Void) async throws -> [String] { [] }
    }

    private struct Store: DataProvider {
        func request(_ input: [String]) async throws -> Int { input.count }
    }

    private var graph: OperationGraph<Void> {
        var graph = OperationGraph<Void>()
        let categories = graph.add("categories", Categories())
        let stored = graph.add("store", Store().retry(2), from: categories)
        graph.add("done", Categories(), after: stored, categories)
        return graph
    }

    @Test func `a graph shows each node with those that it waits for, and what it is made of`() {
        #expect(
            graph.structure.description == """
                graph
                ├─ categories: Categories
                ├─ store, after categories: retry, at most 2 times
                │  └─ Store
                └─ done, after store and categories: Categories
                """)
    }

    @Test func `a flow chart of a graph has an arrow for each dependency`() {
        let flow = graph.map { _ in 1 }
        #expect(
            flow.structure.mermaid == """
                flowchart LR
                    n1(("graph"))
                    subgraph n2["categories"]
                        n3["Categories"]
                    end
                    subgraph n4["store"]
                        subgraph n5["retry, at most 2 times"]
                            n6["Store"]
                        end
                    end
                    subgraph n7["done"]
                        n8["Categories"]
                    end
                    n9((" "))
                    n1 --> n3
                    n3 --> n6
                    n6 --> n8
                    n3 --> n8
                    n8 --> n9
                    n10["map to Int"]
                    n9 --> n10
                """)
    }

    @Test func `a graph without nodes, one with a cycle and one with odd names are drawn as well`() {
        let empty = OperationGraph<Void>(width: 3, onFailure: .carryOn)
        #expect(empty.structure.description == "graph, 3 at a time, carrying on")
        #expect(
            OperationGraph<Void>().structure.mermaid == """
                flowchart LR
                    n1(("graph"))
                    n2((" "))
                    n1 --> n2
                """)
        var graph = OperationGraph<Void>()
        let one = graph.add("one\nline", Categories())
        graph.addDependency(of: one, on: one)
        #expect(graph.structure.description == "graph\n└─ one line, after one line: Categories")
        #expect(
            graph.structure.mermaid == """
                flowchart LR
                    n1(("graph"))
                    subgraph n2["one line"]
                        n3["Categories"]
                    end
                    n4((" "))
                    n3 --> n3
                """)
    }

    @Test func `a provider around operations shows what they are`() {
        let provider = OperationDataProvider { (_: Int) in
            BlockOperation {}
        } output: { _ in
            1
        }
        #expect(provider.structure == .provider("operation: BlockOperation"))
        let other = OperationDataProvider { (_: Int) in DataProviderOperation(Categories()) }
        #expect(other.structure.description.hasPrefix("operation: DataProviderOperation<"))
    }
}
