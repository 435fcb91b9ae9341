import IDMCore

/// 4. The search without a terminal: types the query letter by letter, and prints what the handlers hear.
@MainActor
struct OneShot {
    let flow: Flow

    func run(_ query: String) async throws {
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
        guard let first = try? await previous?.value.logins.first else { return }
        print("\n\(first): profile and repositories, at the same time")
        await details(flow.card.prepareCall(first))
        print("\n\(first): profile, and then the repositories")
        await details(flow.story.prepareCall(first))
    }

    /// Nobody waits for the answer before the next letter is typed, except after the last one.
    private func search(_ query: String) -> IntegrationTask<Users> {
        flow.search.prepareCall(query)
            .onBeginning { print("       \(query): onBeginning") }
            .onSuccess { users in
                print("       \(query): onSuccess, \(users.source)")
                for login in users.logins { print("           \(login)") }
            }
            .onError { error in print("       \(query): onError, \(error)") }
            .onCancel { reason in print("       \(query): onCancel, .\(reason)") }
            .onCompletion { print("       \(query): onCompletion") }
            .call()
    }

    private func details(_ call: IntegrationCall<Card>) async {
        await call
            .onSuccess { card in for line in card.lines { print("       \(line)") } }
            .onError { error in print("       \(error)") }
            .call().finish()
    }
}
