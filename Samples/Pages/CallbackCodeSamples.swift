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
    let task = Integrator(SearchNotes()).prepareCall(text).call()
    Task {
        let outcome = await task.outcome
        queue.async { completion(Result { try outcome.get() }) }
    }
    return task
}
// end

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
