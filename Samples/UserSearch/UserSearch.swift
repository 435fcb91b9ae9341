import Foundation
import IDMCore

/// Searches a directory of users while the query is typed, letter by letter, and prints what the handlers hear.
@main @MainActor
struct UserSearch {
    static func main() async {
        switch Arguments(CommandLine.arguments.dropFirst()) {
        case .help:
            print(Arguments.usage)
        case .query(let query):
            await UserSearch().type(query)
        case .mistake(let mistake):
            FileHandle.standardError.write(Data("UserSearch: \(mistake) Try --help.\n".utf8))
            exit(2)
        }
    }

    /// A newer call takes the place of the older ones.
    private let users = Integrator(UserDirectory(), model: Users.self, executing: .latest)

    /// Searches at each letter. Nobody waits for the answer before the next letter is typed, except after the last one.
    private func type(_ query: String) async {
        var previous: IntegrationTask<Users>?
        for end in query.indices {
            let typed = String(query[...end])
            print("typed  \(typed)")
            let task = search(typed)
            await previous?.finish()
            previous = task
            print()
        }
        print("waiting")
        await previous?.finish()
    }

    private func search(_ query: String) -> IntegrationTask<Users> {
        users.prepareCall(query)
            .onBeginning { print("       \(query): onBeginning") }
            .onSuccess { users in
                print("       \(query): onSuccess")
                for line in users.lines { print("           \(line)") }
            }
            .onError { error in print("       \(query): onError, \(error)") }
            .onCancel { reason in print("       \(query): onCancel, .\(reason)") }
            .onCompletion { print("       \(query): onCompletion") }
            .call()
    }
}
