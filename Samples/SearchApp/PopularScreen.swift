import IDMCore
import SwiftUI

/// Shows a cached list at once, and the server's answer when it arrives. Pulling down loads it again. Offline, the cached
/// list stays below the error.
struct PopularScreen: View {
    private let directory: Directory
    @State private var accounts: IntegrationState<Void, [Account]>

    init(_ directory: Directory) {
        self.directory = directory
        _accounts = State(initialValue: IntegrationState(directory.popular))
    }

    var body: some View {
        List {
            AccountRows(accounts: accounts.value ?? [], directory: directory)
        }
        .overlay { RetryView(state: accounts) }
        .navigationTitle("Popular")
        .refreshable { await accounts.refresh() }
        .task { await accounts.run() }
    }
}
