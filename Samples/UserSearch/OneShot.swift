import Console
import IDMCore

/// 4. The search without a terminal: types the query letter by letter, and prints the events of each call.
@MainActor
struct OneShot {
    let flow: Flow

    /// - Returns: True if every request succeeded.
    func run(_ query: String) async -> Bool {
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
        guard let first = try? await previous?.value.logins.first else { return false }
        print("\n\(first): profile and repositories, at the same time")
        let card = await details(flow.card.prepareCall(first))
        print("\n\(first): profile, and then the repositories")
        let story = await details(flow.story.prepareCall(first))
        return card && story
    }

    /// Starts a search. The next letter is typed without waiting for its answer.
    private func search(_ query: String) -> IntegrationTask<Users> {
        flow.search.prepareCall(query)
            .onBeginning { print("       \(query): onBeginning") }
            .onSuccess { users in
                print("       \(query): onSuccess, \(users.source)")
                for login in users.logins { print("           \(login.printable)") }
            }
            .onError { error in print("       \(query): onError, \(error.userText)") }
            .onCancel { reason in print("       \(query): onCancel, .\(reason)") }
            .onCompletion { print("       \(query): onCompletion") }
            .call()
    }

    private func details(_ call: IntegrationCall<Card>) async -> Bool {
        let task =
            call
            .onSuccess { card in for line in card.lines { print("       \(line.printable)") } }
            .onError { error in print("       \(error.userText)") }
            .call()
        await task.finish()
        return await task.outcome.value != nil
    }
}
