import IDMCaching
import IDMCore
import TestSupport
import Testing

extension Surroundings {
    // sample: a store over a database
    final class UserStore: CacheStore {
        let ledger = CacheLedger<Int, User>()
        private let database: Database

        init(_ database: Database) {
            self.database = database
        }

        func get(_ id: Int) async throws -> CacheEntry<User>? {
            guard let row = try await database.row(id) else { return nil }
            let stamp = CacheStamp(time: .nanoseconds(row.time), era: row.era)
            return CacheEntry(User(name: row.name), stamp: stamp, tags: row.tags)
        }

        func set(
            _ entry: CacheEntry<User>, for id: Int, permit: CachePermit<Int, User>
        ) async throws {
            let (seconds, attoseconds) = entry.stamp.time.components
            let time = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
            let row = Row(
                name: entry.value.name, tags: entry.tags, time: time, era: entry.stamp.era)
            try await database.transaction { rows in
                guard permit.claim(entry) else { return }
                rows[id] = row
            }
        }

        func remove(_ id: Int) async throws {
            try await database.transaction { rows in rows[id] = nil }
        }

        func removeAll(tagged tag: String) async throws {
            try await database.transaction { rows in
                rows = rows.filter { !$0.value.tags.contains(tag) }
            }
        }

        func removeAll() async throws {
            try await database.transaction { rows in rows = [:] }
        }
    }
    // end

    static func integrator(_ database: Database) -> Integrator<Int, User> {
        // sample: its use
        let store = UserStore(database)
        let users = Integrator(
            UserDataProvider().cached(
                in: store, policy: .staleWhileRevalidate(maxAge: .seconds(60))))
        // end
        return users
    }
}

@Suite("A store over a database", .timeLimit(.ample))
struct WritingAStoreTests {
    private let store = Surroundings.UserStore(Surroundings.Database())

    @Test("What is written is read, with its age and its tags")
    func roundTrip() async throws {
        let provider = Surroundings.UserDataProvider().cached(in: store, policy: .cacheElseRemote(maxAge: .seconds(60)))
        #expect(try await provider.request(7).name == "user 7")
        #expect(try await provider.policy(.cacheOnly).request(7).name == "user 7")
        let entry = try #require(await store.get(7))
        #expect(store.ledger.clock.age(of: entry.stamp) != nil)
        #expect(try await Surroundings.integrator(Surroundings.Database()).request(1).name == "user 1")
    }

    @Test("What was asked for before a removal does not land after it", arguments: 0..<3)
    func permits(way: Int) async throws {
        let permit = store.ledger.permit(for: 1)
        switch way {
        case 0: try await store.invalidate(1)
        case 1: try await store.invalidate(tag: "tag")
        default: try await store.invalidateAll()
        }
        try await store.set(store.ledger.entry(.init(name: "old"), tags: ["tag"]), for: 1, permit: permit)
        #expect(try await store.get(1) == nil)
        try await store.write(.init(name: "new"), for: 1, tags: ["tag"])
        #expect(try await store.get(1)?.value.name == "new")
        try await store.invalidate(tag: "tag")
        #expect(try await store.get(1) == nil)
    }
}
