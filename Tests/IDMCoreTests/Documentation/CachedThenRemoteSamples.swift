import IDMCore

extension Surroundings {
    @MainActor
    private static func cachedThenRemote() {
        // sample: two calls
        let cached = Integrator(CacheDataProvider(), model: Users.self)
        let remote = Integrator(ServerDataProvider(), model: Users.self, executing: .latest)

        cached.prepareCall("apple")
            .onBeginning { spinner.start() }
            .onSuccess { users in list.show(users.names) }
            .onError { error in banner.show(error) }
            .onCompletion { spinner.stop() }
            .thenRecall(with: remote, "apple")
            .call()
        // end

        // sample: two calls with handlers of their own
        cached.prepareCall("apple")
            .onSuccess { users in list.show(users.names) }
            .nextCompletion(
                remote.prepareCall("apple")
                    .onSuccess { users in list.show(users.names) }
                    .onError { error in banner.show(error) }
            )
            .call()
        // end

        // sample: one call
        let users = Integrator(
            CacheDataProvider().merged(with: ServerDataProvider()),
            model: Users.self, executing: .latest)
        // end
        _ = users
    }
}
