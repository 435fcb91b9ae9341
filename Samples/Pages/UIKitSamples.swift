#if canImport(UIKit)
import Foundation
import IDMCore
import UIKit

// sample: a controller with handlers
final class NotesController: UITableViewController, UISearchBarDelegate {
    private let search = Integrator(
        SearchNotes(), executing: .latest(debounce: .milliseconds(300)))
    private let spinner = UIActivityIndicatorView()
    private var notes: [Note] = []

    func searchBar(_ searchBar: UISearchBar, textDidChange text: String) {
        search.prepareCall(text)
            .onBeginning { [weak self] in self?.spinner.startAnimating() }
            .onSuccess { [weak self] notes in self?.show(notes) }
            .onError { [weak self] error in self?.show(error) }
            .onCompletion { [weak self] in self?.spinner.stopAnimating() }
            .call()
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        search.cancel()
    }

    private func show(_ notes: [Note]) {
        self.notes = notes
        tableView.reloadData()
    }

    private func show(_ error: any Error) {
        let alert = UIAlertController(
            title: "Nothing to show", message: error.localizedDescription,
            preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: "OK", style: .default))
        present(alert, animated: true)
    }
}
// end

// sample: a controller that receives the events
final class NoteController: UIViewController,
    LoadingHandling, ErrorHandling, DataHandling
{
    private let loadNote = Integrator(LoadNote(), executing: .latest)
    private let spinner = UIActivityIndicatorView()
    private let label = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        loadNote.loadingHandler(self).errorHandler(self).dataHandler(self)
    }

    func open(_ id: Note.ID) {
        loadNote.prepareCall(id).call()
    }

    func beginLoading() { spinner.startAnimating() }
    func finishLoading() { spinner.stopAnimating() }
    func handle(data note: Note) { label.text = note.text }
    func handle(error: any Error) { label.text = error.localizedDescription }
}
// end
#endif
