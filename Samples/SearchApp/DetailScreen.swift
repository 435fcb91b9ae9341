import IDMCore
import SwiftUI

/// Shows an account. Profile and repositories load at the same time; if one request fails, the screen offers a retry of
/// both. Leaving the screen cancels the requests.
struct DetailScreen: View {
    let login: String
    @State private var details: IntegrationState<String, Details>

    init(login: String, _ directory: Directory) {
        self.login = login
        _details = State(initialValue: IntegrationState(directory.details))
    }

    var body: some View {
        List {
            if let details = details.value {
                Section(details.title) {
                    Text(details.location)
                }
                Section("Repositories") {
                    ForEach(details.repositories) { Text($0.name) }
                }
            }
        }
        .overlay { RetryView(state: details) }
        .navigationTitle(login)
        .task(id: login) { await details.run(login, keepingValue: false) }
    }
}
