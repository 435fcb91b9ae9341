import IDMCaching
import IDMCore
import TestSupport
import Testing

@Suite("The structure of cached providers", .timeLimit(.ample))
struct CachedStructureTests {
    private struct Search: DataProvider {
        func request(_ query: String) async throws -> Int { query.count }
    }

    private static let memory = MemoryCache<String, Int>(countLimit: 1)

    @Test("each policy says when the cache and when the provider is asked", arguments: Self.policies)
    func each(policy: CachePolicy, text: String) {
        let structure = Search().cached(in: Self.memory, policy: policy).structure
        #expect(structure.description.split(separator: "\n").joined(separator: "|") == text)
    }

    private static let policies: [(CachePolicy, String)] = [
        (.cachedThenRemote, "cached, cachedThenRemote|├─ first: MemoryCache<String, Int>|└─ then: Search"),
        (
            .cacheElseRemote(maxAge: .seconds(60)),
            "cached, cacheElseRemote(maxAge: 60.0 seconds)|├─ if at most 60.0 seconds old: MemoryCache<String, Int>"
                + "|└─ else: Search"
        ),
        (
            .staleWhileRevalidate(maxAge: .seconds(60)),
            "cached, staleWhileRevalidate(maxAge: 60.0 seconds)|├─ first: MemoryCache<String, Int>"
                + "|└─ if more than 60.0 seconds old: Search"
        ),
        (.remoteElseCache, "cached, remoteElseCache|├─ first: Search|└─ if it fails: MemoryCache<String, Int>"),
        (.cacheOnly, "cached, cacheOnly|├─ always: MemoryCache<String, Int>|└─ never: Search"),
        (.remoteOnly, "cached, remoteOnly|├─ only written: MemoryCache<String, Int>|└─ always: Search"),
        (.refresh, "cached, refresh|├─ only written: MemoryCache<String, Int>|└─ always: Search"),
    ]

    @Test("labels and what removes duplicates stand around the cache, in text and in a flow chart")
    func around() {
        let provider = Search().cached(in: Self.memory)
        #expect(
            provider.labelled().removingDuplicates().structure.description == """
                without duplicates
                └─ labelled
                   └─ cached, cachedThenRemote
                      ├─ first: MemoryCache<String, Int>
                      └─ then: Search
                """)
        #expect(
            provider.labelled().structure.mermaid == """
                flowchart LR
                    subgraph n1["labelled"]
                        n2{"cached, cachedThenRemote"}
                        n3["MemoryCache#lt;String, Int#gt;"]
                        n4["Search"]
                        n5((" "))
                        n2 -->|"first"| n3
                        n3 --> n5
                        n2 -->|"then"| n4
                        n4 --> n5
                    end
                """)
        #expect(provider.policy(.cacheOnly).structure == Search().cached(in: Self.memory, policy: .cacheOnly).structure)
        #expect(provider.refreshing.structure.description.hasPrefix("cached, refresh\n"))
    }
}
