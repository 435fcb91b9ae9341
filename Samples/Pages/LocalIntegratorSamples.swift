import Foundation
import IDMCore
import IDMHTTP

nonisolated struct DeleteNote: DataProvider {
    func request(_ id: Note.ID) async throws -> ServiceResponse {
        try await api.request(ServiceRequest(.delete, "/notes/:id", pathParameters: ["id": id]))
    }
}

// sample: a local integrator
@MainActor
final class NoteMenu {
    private(set) var message = ""

    func delete(_ note: Note) {
        Integrator(DeleteNote())
            .prepareCall(note.id)
            .onSuccess { [weak self] _ in self?.message = "Deleted" }
            .onError { [weak self] error in self?.message = error.localizedDescription }
            .call()
    }
}
// end

@MainActor
private func others(_ note: Note) async throws {
    // sample: awaited in a line
    let response = try await DeleteNote().request(note.id)
    // end
    _ = response

    // sample: calls that end with their owner
    let search = Integrator(SearchNotes(), executing: .latest, cancelsWhenReleased: true)
    // end

    // sample: a stored call, called twice
    let apples = search.prepareCall("apples").onSuccess { notes in print(notes.count) }
    let first = apples.call()
    let second = apples.call()
    // end
    _ = (first, second)
}
