import IDMCore
import IDMTesting

/// Calls back in one way or another.
struct Calling: CallbackDataProvider {
    enum Way: Sendable {
        case once, twice, never
        case later(Duration), hearing(Duration), onceMore(Duration), deaf(Duration), failingAndAnswering(Duration)
    }

    let way: Way
    let clock: ManualClock?

    init(_ way: Way, _ clock: ManualClock? = nil) {
        self.way = way
        self.clock = clock
    }

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        switch way {
        case .never: return nil
        case .once, .twice, .onceMore: completion(.success(input))
        default: break
        }
        switch way {
        case .once, .never: return nil
        case .twice:
            completion(.success(input))
            return nil
        case .later(let duration), .onceMore(let duration):
            _ = answer(input, duration, completion)
            return nil
        case .deaf(let duration):
            _ = answer(input, duration, completion)
            return {}
        case .hearing(let duration):
            let timer = answer(input, duration, completion)
            return { timer.cancel() }
        case .failingAndAnswering(let duration):
            _ = answer(input, duration, completion)
            return { completion(.failure(CancellationError())) }
        }
    }

    private func answer(
        _ input: Int, _ duration: Duration, _ completion: @escaping @Sendable (Result<Int, any Error>) -> Void
    ) -> Task<Void, Never> {
        LibraryTask.start(clock: clock, isolation: nil) { [clock] _ in
            guard (try? await clock?.sleep(for: duration)) != nil else { return }
            completion(.success(input))
        }
    }
}
