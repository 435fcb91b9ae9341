import Console
import IDMCore

/// The five calls that most programs begin with.
@main @MainActor
struct FirstCalls {
    static let usage = """
        usage: FirstCalls

        Makes the calls that most programs begin with, and prints what their handlers receive.

        options:
          --help   prints this
        """

    static func main() async {
        let arguments = Arguments("FirstCalls", usage: usage)
        do {
            await callInMethod()
            await callsOfScreen()
            await callbacks()
            try await composed()
            await cachedThenRemote()
        } catch {
            arguments.leave("\(error)", code: 1)
        }
    }

    /// 1. An integrator that is made in a method. Nothing holds the integrator or the task when the method returns, and the
    /// call runs to its end.
    static func callInMethod() async {
        func load(_ whenDone: @escaping @Sendable () -> Void) {
            Integrator(Users())
                .prepareCall("A")
                .onSuccess { names in print("  onSuccess \(names)") }
                .onCompletion { print("  onCompletion") }
                .onCompletion(whenDone)
                .call()
            print("  load() returns")
        }

        print("an integrator in a method:")
        await withCheckedContinuation { continuation in load { continuation.resume() } }
    }

    /// 2. Handlers of a screen, with `[weak self]`. They run on the actor of the screen, and not after it is gone.
    @MainActor
    final class Screen {
        private let users = Integrator(Users(), executing: .latest)

        func load(_ prefix: String) -> IntegrationTask<[String]> {
            users.prepareCall(prefix)
                .onBeginning { [weak self] in self?.show("loading \(prefix)") }
                .onSuccess { [weak self] names in self?.show("\(names)") }
                .onCompletion { [weak self] in self?.show("loaded") }
                .call()
        }

        private func show(_ text: String) { print("  screen: \(text)") }
    }

    static func callsOfScreen() async {
        print("\nhandlers with [weak self]:")
        var screen: Screen? = Screen()
        await screen?.load("G").finish()
        let task = screen?.load("A")
        screen = nil
        await task?.finish()
        print("  without the screen: \(await task?.outcome.value ?? [])")
    }

    /// 3. A provider with a completion handler. A cancel of the call calls its cancel handler, and is no error.
    static func callbacks() async {
        print("\na callback provider:")
        let users = Integrator(LegacyUsers())
        await users.prepareCall("G").onSuccess { print("  onSuccess \($0)") }.call().finish()

        let task = users.prepareCall("")
            .onSuccess { print("  onSuccess \($0)") }
            .onError { print("  onError \($0)") }
            .onCancel { print("  onCancel \($0)") }
            .call()
        task.cancel()
        await task.finish()
    }

    /// 4. Providers one after the other, and at the same time.
    static func composed() async throws {
        print("\na sequence and a group:")
        let firstTown = Users() >>>> { names in names.first ?? "nobody" } >>>> Town()
        print("  sequence: \(try await Integrator(firstTown).request("A"))")

        let both = Integrator(Users() >><< Town())
        let (names, town) = try await both.request(("A", "Grace"))
        print("  group: \(names), \(town)")
        await both.prepareCall(("A", "Nobody"))
            .onSuccess { print("  onSuccess \($0)") }
            .onError { print("  onError \($0)") }
            .call().finish()
    }

    /// 5. The value of a cache, and then that of the server, with the same handlers. A miss is an error, and the server
    /// answers all the same.
    static func cachedThenRemote() async {
        let remote = Integrator(Town(), executing: .latest)
        for cache in [["Ada": "Paris"], [:]] {
            print("\ncached, then remote, with \(cache.isEmpty ? "an empty cache" : "a cached value"):")
            let cached = Integrator(
                ClosureDataProvider { (name: String) in
                    guard let town = cache[name] else { throw UnknownUser(name: name) }
                    return town
                })
            await cached.prepareCall("Ada")
                .onBeginning { print("  onBeginning") }
                .onSuccess { town in print("  onSuccess \(town)") }
                .onError { error in print("  onError \(error)") }
                .onCompletion { print("  onCompletion") }
                .thenRecall(with: remote, "Ada")
                .call().finish()
        }
    }
}
