import IDMCore
import IDMTesting
import TestSupport
import Testing

private actor Disk {
    private var names: [String] = []

    func load() -> [String] { names }
    func save(_ names: [String]) { self.names = names }
}

private actor Directory {
    func users(matching text: String) -> [String] { [text] }
}

private struct UserDataProvider: DataProvider {
    let directory = Directory()

    func request(_ text: String) async throws -> [String] {
        async let names = directory.users(matching: text)
        return await names
    }
}

/// The screens of the article with their races.
private enum Broken {
    // sample: favorites with a race
    actor FavoritesModel {
        private let disk = Disk()
        private(set) var names: [String] = []

        func add(_ name: String) async {
            var all = await disk.load()
            all.append(name)
            await disk.save(all)
            names = all
        }
    }
    // end

    // sample: a search with a race
    actor SearchModel {
        private let users = Integrator(UserDataProvider())
        private(set) var shown: [String] = []

        func type(_ text: String) -> IntegrationTask<[String]> {
            users.prepareCall(text).onSuccess { names in self.shown = names }.call()
        }
    }
    // end

    static func addTwo() async throws {
        // sample: two favorites
        try await explore(seeds: 0..<200) { _ in
            let model = FavoritesModel()
            async let first: Void = model.add("Ada")
            async let second: Void = model.add("Grace")
            _ = await (first, second)
            try #require(await model.names.sorted() == ["Ada", "Grace"])
        }
        // end
    }

    static func typeTwo() async throws {
        // sample: two searches
        try await explore(seeds: 0..<200) { _ in
            let model = SearchModel()
            let older = await model.type("a")
            let newer = await model.type("ab")
            await older.finish()
            await newer.finish()
            try #require(await model.shown == ["ab"])
        }
        // end
    }
}

/// The same screens without their races.
private enum Mended {
    // sample: favorites without a race
    actor FavoritesModel {
        private let saving: Integrator<String, [String]>
        private(set) var names: [String] = []

        init() {
            let disk = Disk()
            let adding = ClosureDataProvider { (name: String) in
                let all = await disk.load() + [name]
                await disk.save(all)
                return all
            }
            saving = Integrator(adding, executing: .queue)
        }

        func add(_ name: String) async {
            let call = saving.prepareCall(name).onSuccess { all in self.names = all }
            await call.call().finish()
        }
    }
    // end

    // sample: a search without a race
    actor SearchModel {
        private let users = Integrator(UserDataProvider(), executing: .latest)
        private(set) var shown: [String] = []

        func type(_ text: String) -> IntegrationTask<[String]> {
            users.prepareCall(text).onSuccess { names in self.shown = names }.call()
        }
    }
    // end

    static func addTwo() async throws {
        // sample: two favorites, again
        try await explore(seeds: 0..<200) { _ in
            let model = FavoritesModel()
            async let first: Void = model.add("Ada")
            async let second: Void = model.add("Grace")
            _ = await (first, second)
            try #require(await model.names.sorted() == ["Ada", "Grace"])
        }
        // end
    }

    static func typeTwo() async throws {
        // sample: two searches, again
        try await explore(seeds: 0..<200) { _ in
            let model = SearchModel()
            let older = await model.type("a")
            let newer = await model.type("ab")
            await older.finish()
            await newer.finish()
            try #require(await model.shown == ["ab"])
        }
        // end
    }
}

@Suite("Samples of the article on races", .timeLimit(.ample))
struct FindTheRaceSamples {
    /// The explorations of the broken screens, and what their failures contain.
    private static let searches:
        [(broken: @Sendable () async throws -> Void, mended: @Sendable () async throws -> Void)] = [
            ({ try await Broken.addTwo() }, { try await Mended.addTwo() }),
            ({ try await Broken.typeTwo() }, { try await Mended.typeTwo() }),
        ]

    @Test("An exploration finds the race of a screen", arguments: 0..<2)
    func races(index: Int) async throws {
        let found = Observed<ExplorationFailure?>(nil)
        await withKnownIssue {
            do {
                try await Self.searches[index].broken()
            } catch let failure as ExplorationFailure {
                found.change { $0 = failure }
            }
        }

        #expect(found.value != nil)
        try await Self.searches[index].mended()
    }
}
