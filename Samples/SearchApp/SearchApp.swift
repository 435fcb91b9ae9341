import SwiftUI

/// Searches the users of GitHub. Each screen is one file; `Directory` holds the data flow of all of them.
@main
struct SearchApp: App {
    private let directory = Directory()

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                SearchScreen(directory)
            }
        }
    }
}
