import IDMCore

/// The samples in the comments of providers and of compositions.
extension Surroundings {
    private static func providers() {
        // sample: a closure
        let doubled = ClosureDataProvider { (number: Int) in number * 2 }
        // end

        let socket = SampleSocket()
        // sample: a stream of a sequence
        let messages = AsyncSequenceDataProvider { (room: String) in socket.messages(in: room) }
        // end

        // sample: a value
        let defaults = ValueDataProvider<Void, Settings>(.standard)
        // end

        // sample: a provider that calls back
        struct LegacyDataProvider: CallbackDataProvider {
            func request(
                _ id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void
            ) -> CancelHandler? {
                let job = client.load(id) { completion($0) }
                return { job.stop() }
            }
        }
        // end

        // sample: a provider made of another
        struct LoggedProvider<Base: DataProvider>: DataProvider {
            let base: Base

            func request(_ input: Base.Input) async throws -> Base.Output { try await base.request(input) }

            var structure: ProviderStructure { .wrapping(base.structure, in: "logged") }
        }
        // end
        _ = (doubled, messages, defaults, LegacyDataProvider(), LoggedProvider(base: doubled))
    }

    private static func composition(id: Int) async throws {
        struct UserProvider: SampleDataProvider { typealias Input = Int }
        struct FriendsProvider: SampleDataProvider { typealias Input = Int }
        struct PhotosProvider: SampleDataProvider { typealias Input = Order }
        // sample: a group
        let profile = UserProvider() >><< FriendsProvider() >><< PhotosProvider()
        let (user, friends, photos) = try await profile.request((id, id, .newest))
        // end
        _ = (user, friends, photos)

        let (a, b, c) = (UserProvider(), FriendsProvider(), PhotosProvider())
        // sample: a group that stays whole
        let nested = (a >><< b).grouped() >><< c  // ((A, B), C) instead of (A, B, C)
        // end
        let ((_, _), _) = try await nested.request(((id, id), .newest))

        struct CountryProvider: SampleDataProvider { typealias Input = String }
        struct CitiesProvider: DataProvider {
            func request(_ names: [String]) async throws -> [String] { names }
        }
        struct Cities: DataModel {
            init(from source: [String]) {}
        }
        // sample: a sequence
        let cities = CountryProvider() >>>> CitiesProvider() >>>> Cities.self
        // end
        _ = try await cities.request("Kenya")

        let screen = profile
        // sample: a structure to look at
        print(screen.structure)  // a tree, in text
        print(screen.structure.mermaid)  // a flow chart, for whatever shows Mermaid
        // end
    }

    private static func inside(pages: [Int], parts: [Int]) async throws {
        func load(_ page: Int) async throws {}
        // sample: progress
        for (index, page) in pages.enumerated() {
            try await load(page)
            IntegrationProgress.report(completed: Int64(index + 1), total: Int64(pages.count))
        }
        // end

        func send(_ part: Int) async throws {}
        // sample: steps that pause
        for part in parts {
            try await PauseControl.checkpoint()
            try await send(part)
        }
        // end
    }

    private static func pausing(download: ImageDataProvider, url: Int) async throws {
        // sample: a pause control
        let control = PauseControl()
        async let file = control.bind { try await download.request(url) }
        control.pause()
        control.resume()
        // end
        _ = try await file
    }

    private enum Order: Sendable { case newest }

    private struct Settings: Sendable {
        static let standard = Settings()
    }

    fileprivate struct Client {
        func load(_ id: Int, then: @escaping @Sendable (Result<String, any Error>) -> Void) -> LegacyDirectory.Job {
            then(.success("\(id)"))
            return LegacyDirectory.Job()
        }
    }

}

// Types inside of a function can't see static members of the type around it.
private let client = Surroundings.Client()

private struct SampleSocket: Sendable {
    func messages(in room: String) -> AsyncStream<String> { AsyncStream { nil } }
}
