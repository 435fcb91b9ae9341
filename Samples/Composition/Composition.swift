import Console
import IDMCore

/// Providers one after the other, beside each other, and with something around them.
@main @MainActor
struct Composition {
    static let usage = """
        usage: Composition

        Puts providers together, shows what came about as a tree, runs it, and shows what a failure does to a group.

        options:
          --help   prints this
        """

    static func main() async {
        let arguments = Arguments("Composition", usage: usage)
        do {
            try await compose()
            await fail()
        } catch {
            arguments.leave("\(error)", code: 1)
        }
    }

    static func compose() async throws {
        // 3. One after the other with >>>>, at the same time with >><<. The same token goes to both members of the
        //    group.
        let token = SignIn() >>>> { token in (token, token) }
        let parts = Profile() >><< Repositories(failures: 1).retry(2)
        let dashboard = token >>>> parts >>>> { both in (profile: both.0, repositories: both.1) } >>>> Dashboard.self

        // 4. What has been put together can be looked at.
        print("the flow:")
        show(dashboard.structure.description)

        // 5. It is a provider like any other: an integrator runs it. To be recorded changes nothing about that.
        let integrator = Integrator(dashboard, executing: .latest)
        let trace = TraceRecorder()
        trace.watch(integrator, as: "dashboard") { "of \($0)" }
        print("\na call:")
        await integrator.prepareCall("ada")
            .onBeginning { print("  onBeginning") }
            .onSuccess { print("  onSuccess  \($0)") }
            .onError { print("  onError    \($0)") }
            .onCompletion { print("  onCompletion") }
            .call().finish()
        print(
            "  recorded:  "
                + trace.entries.map { $0.detail.isEmpty ? $0.name : "\($0.name), \($0.detail)" }.joined(separator: "; ")
        )
    }

    static func fail() async {
        // 6. A group fails as soon as one of its members does. To hear of each member, collect the results.
        let parts = Profile() >><< Repositories(failures: 2)
        print("\na group with a failure:")
        do {
            print("  \(try await parts.request(("t", "t")))")
        } catch {
            print("  fails fast: \(error)")
        }
        if let (profile, repositories) = try? await parts.collectingResults().request(("t", "t")) {
            print("  collected:  \(text(profile)), and \(text(repositories))")
        }
        if let (_, repositories) = try? await parts.collectingResults().request(("t", "t")) {
            print("  once more:  \(text(repositories))")
        }
    }

    static func text<Value>(_ result: Result<Value, any Error>) -> String {
        switch result {
        case .success(let value): "\(value)"
        case .failure(let error): "\(error)"
        }
    }

    static func show(_ text: String) {
        for line in text.split(separator: "\n") { print("  \(line)") }
    }
}
