import Foundation
import IDMCore

#if !canImport(Darwin)
import TestSupport

extension SwiftUIStandIn.View {
    func refreshable(action: @escaping @MainActor () async -> Void) -> Self { self }
}
#endif

extension Surroundings {
    // sample: a view
    struct UserList: View {
        let query: String
        @State private var users = IntegrationState(
            Integrator(UserDataProvider(), model: Users.self, executing: .latest))

        var body: some View {
            List(users.value?.names ?? [], id: \.self) { Text($0) }
                .overlay { if users.isLoading { ProgressView() } }
                .overlay { if let error = users.error { Text(error.localizedDescription) } }
                .task(id: query) { await users.run(query) }
                .refreshable { await users.refresh() }
        }
    }
    // end

    @MainActor
    private static func gettingStarted() async throws {
        // sample: a provider
        struct UserDataProvider: DataProvider {
            func request(_ query: String) async throws -> [String] {
                try await directory.users(matching: query)
            }
        }
        // end

        // sample: a provider that calls back
        struct LegacyUserDataProvider: CallbackDataProvider {
            func request(
                _ query: String,
                completion: @escaping @Sendable (Result<[String], any Error>) -> Void
            ) -> CancelHandler? {
                let job = legacyDirectory.search(query) { result in completion(result) }
                return { job.stop() }
            }
        }
        // end

        // sample: a model
        struct Users: DataModel {
            let names: [String]

            init(from source: [String]) throws {
                guard !source.isEmpty else { throw SearchError.nobodyFound }
                names = source.sorted()
            }
        }
        // end

        // sample: an integrator
        let users = Integrator(UserDataProvider(), model: Users.self, executing: .latest)
        // end

        // sample: a call
        users.prepareCall("apple")
            .onBeginning { spinner.start() }
            .onSuccess { users in list.show(users.names) }
            .onError { error in banner.show(error) }
            .onCompletion { spinner.stop() }
            .call()
        // end

        // sample: awaiting
        let found = try await users.request("apple")
        // end
        list.show(found.names)

        // sample: looping
        for await event in users.prepareCall("apple").events() {
            print(event)
        }
        // end

        // sample: cancelling
        let task = users.prepareCall("apple")
            .onSuccess { users in list.show(users.names) }
            .onCancel { reason in print(reason) }
            .call()
        task.cancel()
        // end

        // sample: observed state
        let state = IntegrationState(users)
        state.load("apple")
        print(state.isLoading, state.value?.names ?? [], state.error ?? "no error")
        // end

        final class Screen: LoadingHandling, ErrorHandling, DataHandling {
            func beginLoading() {}
            func finishLoading() {}
            func handle(error: any Error) {}
            func handle(data: Users) {}
        }
        let screen = Screen()
        // sample: a screen that is an object
        users
            .loadingHandler(screen)
            .errorHandler(screen)
        users.prepareCall("apple").dataHandler(screen).call()
        // end

        // sample: routed errors
        let errors = ErrorRouter()
        errors.on(SearchError.self, priority: 10) { error in list.show(error) }
        errors.on { error, retry in banner.show(error, retry: retry) }
        users.errorHandler(errors)
        // end

        let error: any Error = IntegrationError.model(SearchError.nobodyFound)
        // sample: an error inside another one
        if let failure = error.failure(as: SearchError.self) { list.show(failure) }
        // end

        _ = try await LegacyUserDataProvider().request("apple")
    }
}
