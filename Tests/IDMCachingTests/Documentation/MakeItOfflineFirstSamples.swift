import Foundation
import IDMCaching
import IDMCore
import IDMTesting
import TestSupport
import Testing

/// The declarations of the article stand in the suite, so that no other test sees their names.
@Suite("The article on offline first", .fewAtOnce, .timeLimit(.ample))
struct MakeItOfflineFirstSamples {
    // sample: a test of two launches
    @Test("Without a network, the screen shows the last result and its age")
    @MainActor
    func offline() async throws {
        struct Offline: Error {}
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestScope.run {
            let time = ManualClock()
            let clock = CacheClock(time)

            let online = StubDataProvider<String, [Account]>([Account(login: "apple")])
            let cache = try makeCache(folder: folder, user: "42", clock: clock)
            let first = SearchScreen(makeSearch(online, in: cache))
            await first.look(for: "app").finish()
            #expect(first.logins == ["apple"] && first.note == "")

            await time.advance(by: .seconds(60))
            let offline = StubDataProvider<String, [Account]>(failing: Offline())
            let sameFolder = try makeCache(folder: folder, user: "42", clock: clock)
            let second = SearchScreen(makeSearch(offline, in: sameFolder))
            await second.look(for: "app").finish()
            #expect(second.logins == ["apple"])
            #expect(second.note == "from 60.0 seconds ago, the server can't be reached")
        }
    }
    // end

    @Test("The flow of the article is what the article draws")
    func structure() throws {
        let folder = try TemporaryFolder()
        let server = ClosureDataProvider { (_: String) in [Account(login: "apple")] }
        let search = makeSearch(server, in: try makeCache(folder: folder.url, user: "42"))
        #expect(
            search.structure.description == """
                integrator, latest
                └─ sequence
                   ├─ without duplicates
                   │  └─ labelled
                   │     └─ cached, cachedThenRemote
                   │        ├─ first: DiskCache<String, Array<Account>>
                   │        └─ then: closure: String → Array<Account>
                   └─ model Accounts
                """)
    }
}

extension MakeItOfflineFirstSamples {
    // sample: the model
    nonisolated struct Account: Codable, Sendable, Equatable {
        let login: String
    }

    struct Accounts: DataModel {
        let logins: [String]
        /// The age of a cached value. Nil for an answer of the server.
        let age: Duration?

        init(from source: Sourced<[Account]>) {
            logins = source.value.map(\.login)
            age =
                switch source.source {
                case .cache(let age): age
                case .remote: nil
                }
        }
    }
    // end

    // sample: the flow
    func makeCache(
        folder: URL, user: String, clock: CacheClock = .system
    ) throws -> DiskCache<String, [Account]> {
        try DiskCache(
            folder: folder, partition: user, entryLimit: 500, memoryLimit: 50, clock: clock)
    }

    func makeSearch(
        _ server: some DataProvider<String, [Account]>, in kept: DiskCache<String, [Account]>
    ) -> Integrator<String, Accounts> {
        Integrator(
            server.cached(in: kept).labelled().removingDuplicates(),
            model: Accounts.self, executing: .latest)
    }
    // end

    // sample: the screen
    @MainActor
    final class SearchScreen {
        private(set) var logins: [String] = []
        private(set) var note = ""
        private let search: Integrator<String, Accounts>

        init(_ search: Integrator<String, Accounts>) {
            self.search = search
        }

        @discardableResult
        func look(for text: String) -> IntegrationTask<Accounts> {
            search.prepareCall(text)
                .onBeginning { [weak self] in self?.note = "looking" }
                .onSuccess { [weak self] accounts in
                    self?.logins = accounts.logins
                    self?.note = accounts.age.map { "from \($0) ago" } ?? ""
                }
                .onError { [weak self] _ in self?.note += ", the server can't be reached" }
                .call()
        }
    }
    // end

    func policies(
        profiles: ClosureDataProvider<String, Account>, countries: ClosureDataProvider<String, [String]>,
        balance: ClosureDataProvider<String, Int>, store: MemoryCache<String, Account>,
        texts: MemoryCache<String, [String]>, sums: MemoryCache<String, Int>
    ) {
        // sample: a policy for each
        let profile = profiles.cached(
            in: store, policy: .staleWhileRevalidate(maxAge: .seconds(600)))
        let list = countries.cached(in: texts, policy: .cacheElseRemote(maxAge: .seconds(86_400)))
        let sum = balance.cached(in: sums, policy: .remoteElseCache)
        // end
        _ = (profile, list, sum)
    }

    func changes(_ kept: DiskCache<String, [Account]>, _ server: ClosureDataProvider<String, [Account]>)
        async throws
    {
        let edited = [Account(login: "ada")]
        // sample: what the user does
        let search = server.cached(in: kept, tags: { _, accounts in Set(accounts.map(\.login)) })
        try await kept.write(edited, for: "ada")
        try await kept.invalidate(tag: "grace")
        let anew = try await search.refreshing.request("ada")
        // end
        _ = anew
        // sample: signing out
        try await kept.wipe()
        // end
    }
}
