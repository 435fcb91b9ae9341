import IDMCaching
import IDMCore
import IDMHTTP

/// A stand-in for a database whose calls are transactions.
actor NoteDatabase {
    struct Row: Sendable {
        let note: Note
        let stamp: CacheStamp
        let tags: Set<String>
    }

    private var rows: [Int: Row] = [:]

    func row(_ id: Int) -> Row? { rows[id] }
    func transaction(_ body: @Sendable (inout [Int: Row]) -> Void) { body(&rows) }
}

// sample: a store over a database
final class NoteStore: CacheStore {
    let ledger = CacheLedger<Int, Note>()
    private let database: NoteDatabase

    init(_ database: NoteDatabase) {
        self.database = database
    }

    func get(_ id: Int) async throws -> CacheEntry<Note>? {
        guard let row = await database.row(id) else { return nil }
        return CacheEntry(row.note, stamp: row.stamp, tags: row.tags)
    }

    func set(
        _ entry: CacheEntry<Note>, for id: Int, permit: CachePermit<Int, Note>
    ) async throws {
        let row = NoteDatabase.Row(
            note: entry.value, stamp: entry.stamp, tags: entry.tags)
        await database.transaction { rows in
            if permit.claim(entry) { rows[id] = row }
        }
    }

    func remove(_ id: Int) async throws {
        await database.transaction { rows in rows[id] = nil }
    }

    func removeAll(tagged tag: String) async throws {
        await database.transaction { rows in
            rows = rows.filter { !$0.value.tags.contains(tag) }
        }
    }

    func removeAll() async throws {
        await database.transaction { rows in rows = [:] }
    }
}
// end

private func use(_ database: NoteDatabase) async throws {
    // sample: the database as a cache
    let store = NoteStore(database)
    let note = Integrator(
        LoadNote().cached(in: store, policy: .staleWhileRevalidate(maxAge: .seconds(60))),
        executing: .latest)
    // end

    // sample: a note that the user has changed
    try await store.write(Note(id: 7, text: "Buy pears"), for: 7)
    // end
    _ = note
}

/// A stand-in for a database that reports its changes.
nonisolated struct NoteTable: Sendable {
    func changes(matching text: String) -> AsyncStream<[Note]> { AsyncStream { $0.finish() } }
    func save(_ notes: [Note]) async throws {}
}

private func observe(_ table: NoteTable) {
    // sample: the database as the source
    let shown = Integrator(
        AsyncSequenceDataProvider { (text: String) in table.changes(matching: text) },
        executing: .latest)
    let refresh = Integrator(
        SearchNotes() >>>> { (notes: [Note]) in try await table.save(notes) },
        executing: .latest)
    // end
    _ = (shown, refresh)
}

private struct NoteQuery: Sendable {
    let text: String
    let page: Int
}

private func keyed(_ search: some DataProvider<NoteQuery, [Note]>) {
    // sample: a key for an input that isn't hashable
    let memory = MemoryCache<String, [Note]>(countLimit: 100)
    let cached = search.cached(in: memory, key: { query in "\(query.text)/\(query.page)" })
    // end
    _ = cached
}
