// sample: the first screen
import Foundation
import IDMCore
import IDMHTTP
import SwiftUI

nonisolated struct Repository: Decodable, Identifiable, Sendable {
    let id: Int
    let name: String
}

struct SearchRepositories: DataProvider {
    let github = HTTPService(configuration: .init(baseURL: URL(string: "https://api.github.com")!))

    func request(_ text: String) async throws -> [Repository] {
        let request = ServiceRequest(.get, "/search/repositories", query: ["q": text])
        return try await github.request(request, as: [Repository].self, at: "items")
    }
}

struct SearchView: View {
    @State private var text = ""
    @State private var search = IntegrationState(Integrator(SearchRepositories(), executing: .latest))

    var body: some View {
        NavigationStack {
            List(search.value ?? []) { Text($0.name) }
                .overlay { if let error = search.error { Text(error.localizedDescription) } }
                .overlay { if search.isLoading { ProgressView() } }
                .searchable(text: $text)
                .onChange(of: text) { if text.isEmpty { search.reset() } else { search.load(text) } }
        }
    }
}
// end
