import Foundation
import IDMCore
import IDMHTTP
import Observation

// sample: before
@MainActor
@Observable
final class NotesBefore {
    private(set) var notes: [Note] = []
    private(set) var error: (any Error)?
    private(set) var isLoading = false
    private var task: Task<Void, Never>?

    func search(_ text: String) {
        task?.cancel()
        task = Task {
            try? await Task.sleep(for: .milliseconds(300))
            guard !Task.isCancelled else { return }
            isLoading = true
            do {
                let found = try await SearchNotes().request(text)
                guard !Task.isCancelled else { return }
                notes = found
            } catch  where !Task.isCancelled {
                self.error = error
            } catch {}
            isLoading = false
        }
    }
}
// end

@MainActor
private func after() async throws {
    // sample: after
    let notes = IntegrationState(
        Integrator(SearchNotes(), executing: .latest(debounce: .milliseconds(300))))
    notes.load("apples")
    // end

    // sample: awaited under a rule
    let search = Integrator(SearchNotes(), executing: .only(joining: true))
    let found = try await search.request("apples")
    // end
    _ = found

    // sample: an outcome instead of a catch
    switch await search.prepareCall("apples").call().outcome {
    case .success(let found): print(found.count)
    case .failure(let error): print(error.localizedDescription)
    case .cancelled(let reason): print(reason)
    }
    // end

    // sample: side by side
    let (note, similar) = try await (LoadNote() >><< SearchNotes()).request((7, "apples"))
    let three = try await LoadNote().each(limit: 4).request([7, 8, 9])
    // end
    _ = (note, similar, three)

    // sample: progress without a parameter
    struct ImportLines: DataProvider {
        func request(_ lines: [String]) async throws -> Int {
            for index in lines.indices {
                IntegrationProgress.report(
                    completed: Int64(index + 1), total: Int64(lines.count))
            }
            return lines.count
        }
    }

    Integrator(ImportLines()).prepareCall(["a", "b"])
        .onProgress { progress in print(progress.fraction) }
        .call()
    // end
}
