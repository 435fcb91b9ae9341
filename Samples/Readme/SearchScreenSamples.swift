#if canImport(UIKit)
import IDMCore
import UIKit

final class SearchScreen: UIViewController {
    private let search = Integrator(SearchRepositories(), executing: .latest)
    private let spinner = UIActivityIndicatorView()
    private var names: [String] = []

    func search(for text: String) {
        // sample: the same with handlers
        search.prepareCall(text)
            .onBeginning { [weak self] in self?.spinner.startAnimating() }
            .onSuccess { [weak self] repositories in self?.show(repositories) }
            .onError { [weak self] error in self?.show(error) }
            .onCompletion { [weak self] in self?.spinner.stopAnimating() }
            .call()
        // end
    }

    func firstName(for text: String) async throws -> String? {
        let repositories = try await search.request(text)
        return repositories.first?.name
    }

    private func show(_ repositories: [Repository]) {
        names = repositories.map(\.name)
    }

    private func show(_ error: any Error) {
        title = error.localizedDescription
    }
}
#endif
