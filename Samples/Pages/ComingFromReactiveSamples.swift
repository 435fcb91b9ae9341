import Foundation
import IDMCaching
import IDMCore
import IDMHTTP

@MainActor
private func streams(
    _ text: AsyncStream<String>, _ notes: IntegrationState<String, [Note]>,
    _ ticks: @escaping @Sendable () -> AsyncStream<Int>
) async throws {
    // sample: a search as it is typed
    let search = Integrator(
        SearchNotes()
            .retry(2, delay: .exponential())
            .fallback(to: ValueDataProvider([])),
        executing: .latest(debounce: .milliseconds(300)))
    // end

    // sample: a stream of inputs
    for await typed in text {
        search.prepareCall(typed).onSuccess { found in print(found.count) }.call()
    }
    // end

    // sample: a call as a sequence
    for try await found in search.prepareCall("apples").values() {
        print(found.count)
    }
    // end

    // sample: a sequence as a provider
    let clock = AsyncSequenceDataProvider { ticks() }
    // end
    _ = clock

    // sample: zip, flatMap, catch, timeout
    let both = LoadNote() >><< SearchNotes()
    let similar = LoadNote() >>>> { note in note.text } >>>> SearchNotes()
    let robust = similar.timeout(.seconds(5)).fallback(to: ValueDataProvider([]))
    // end
    _ = (both, robust)

    // sample: share and replay
    let shared = LoadNote().coalesced()
    let replayed = LoadNote().cached(
        in: MemoryCache(countLimit: 100), policy: .cacheElseRemote(maxAge: .seconds(60)))
    // end
    _ = (shared, replayed)

    // sample: handlers for all calls
    let registration = search.addHandlers { calls in
        calls.onSuccess { found in print(found.count) }
    }
    registration.remove()
    // end
}
