import Console
import IDMCore

/// Composes providers: one after another, at the same time, and with a retry around one of them.
@main @MainActor
struct Composition {
    static let usage = """
        usage: Composition

        Composes providers, prints the composition as a tree and as a flow chart, calls it, and shows the effect of a
        failure on a group.

        options:
          --help   prints this text
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
        // 3. `>>>>` runs providers one after another, `>><<` runs them at the same time. Both members of the group get
        //    the token.
        let token = SignIn() >>>> { token in (token, token) }
        let parts = Profile() >><< Repositories(failures: 1).retry(2)
        let dashboard = token >>>> parts >>>> { both in (profile: both.0, repositories: both.1) } >>>> Dashboard.self

        // 4. A composition has a structure: a tree, or a flow chart for Mermaid, which code hosts and editors draw.
        print("the composition as a tree:")
        show(dashboard.structure.description)
        print("\nthe composition as a Mermaid flow chart:")
        show(dashboard.structure.mermaid)

        // 5. A composition is a provider, so an integrator can call it. A recorder notes the times of each call.
        let integrator = Integrator(dashboard, executing: .latest)
        let trace = TraceRecorder()
        trace.watch(integrator, as: "dashboard") { "dashboard of \($0)" }
        print("\na call:")
        await integrator.prepareCall("ada")
            .onBeginning { print("  onBeginning") }
            .onSuccess { print("  onSuccess  \($0)") }
            .onError { print("  onError    \($0)") }
            .onCompletion { print("  onCompletion") }
            .call().finish()
        print("\nthe recording of that call:")
        for entry in trace.entries {
            let indent = entry.parent == nil ? "  " : "    "
            print(indent + (entry.detail.isEmpty ? entry.name : "\(entry.name): \(entry.detail)"))
        }
    }

    static func fail() async {
        // 6. A group fails with its first member that fails. `collectingResults()` returns the result of each member.
        let parts = Profile() >><< Repositories(failures: 2)
        print("\na group whose second member fails twice:")
        do {
            print("  \(try await parts.request(("t", "t")))")
        } catch {
            print("  request:                      \(error)")
        }
        if let (profile, repositories) = try? await parts.collectingResults().request(("t", "t")) {
            print("  collectingResults:            \(text(profile)), and \(text(repositories))")
        }
        if let (profile, repositories) = try? await parts.collectingResults().request(("t", "t")) {
            print("  collectingResults once more:  \(text(profile)), and \(text(repositories))")
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
