import Foundation
import IDMCore

/// A stand-in for an older API.
nonisolated final class LegacyClient: Sendable {
    struct Ticket: Sendable {
        func cancel() {}
    }

    static let shared = LegacyClient()

    func findNotes(
        _ text: String, completion: @escaping @Sendable ([Note]?, (any Error)?) -> Void
    ) -> Ticket {
        completion([], nil)
        return Ticket()
    }
}

// sample: a provider around a completion
struct LegacyNotes: CallbackDataProvider {
    func request(
        _ text: String,
        completion: @escaping @Sendable (Result<[Note], any Error>) -> Void
    ) -> CancelHandler? {
        let ticket = LegacyClient.shared.findNotes(text) { notes, error in
            if let notes {
                completion(.success(notes))
            } else {
                completion(.failure(error ?? DataProviderError.noAnswer))
            }
        }
        return { ticket.cancel() }
    }
}
// end

// sample: one completion for a caller
nonisolated func findNotes(
    _ text: String, queue: DispatchQueue = .main,
    completion: @escaping @Sendable (Result<[Note], any Error>) -> Void
) -> IntegrationTask<[Note]> {
    Integrator(SearchNotes()).fetch(text) { result in
        queue.async { completion(result) }
    }
}
// end

@MainActor
final class NoteCount {
    private let search = Integrator(SearchNotes(), executing: .latest)
    private(set) var text = ""

    func update() {
        // sample: one completion
        search.fetch("apples") { [weak self] result in
            switch result {
            case .success(let notes): self?.text = "\(notes.count) notes"
            case .failure(let error): self?.text = error.localizedDescription
            }
        }
        // end
    }
}

// sample: success and failure for a caller
@MainActor
func findNotes(
    _ text: String, success: @escaping @MainActor @Sendable ([Note]) -> Void,
    failure: @escaping @MainActor @Sendable (any Error) -> Void
) {
    Integrator(SearchNotes())
        .prepareCall(text)
        .onSuccess(success)
        .onError(failure)
        .call()
}
// end
