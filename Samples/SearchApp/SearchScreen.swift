import IDMCore
import SwiftUI

/// Searches while the user types. The executing type of `Directory.search` waits for a pause in typing, and cancels a
/// search that a newer one replaces.
struct SearchScreen: View {
    private let directory: Directory
    @State private var text = ""
    @State private var found: IntegrationState<String, [Account]>

    init(_ directory: Directory) {
        self.directory = directory
        _found = State(initialValue: IntegrationState(directory.search))
    }

    var body: some View {
        List {
            if text.isEmpty {
                NavigationLink {
                    PopularScreen(directory)
                } label: {
                    Label("Popular accounts", systemImage: "star")
                }
            }
            AccountRows(accounts: found.value ?? [], directory: directory)
        }
        .overlay { RetryView(state: found) }
        .navigationTitle("Search")
        .searchable(text: $text)
        .onChange(of: text) {
            if text.isEmpty { found.reset() } else { found.load(text) }
        }
    }
}

/// The rows of accounts, each with a link to its details.
struct AccountRows: View {
    let accounts: [Account]
    let directory: Directory

    var body: some View {
        ForEach(accounts) { account in
            NavigationLink {
                DetailScreen(login: account.login, directory)
            } label: {
                Text(account.login)
            }
        }
    }
}
