import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What the battery leaves behind.
extension DataProviderContractTests {
    @Test("is kept by callback providers that can't be cancelled and stand in one line, of which no request is left")
    func uncancellable() async throws {
        let (left, line) = (Watched(0), Watched(0))
        let found = try await check { clock in
            left.change { $0 = max($0, line.value) }
            return Standing(in: line, clock: clock)
        }
        #expect(found.messages == [])
        // Whoever is asked next finds nobody in the line.
        #expect(left.value == 0)
    }

    @Test("leaves no request behind when it is cancelled", arguments: DataProviderContract.Rule.allCases)
    func cancelled(rule: DataProviderContract.Rule) async throws {
        let (asked, open) = (Watched(0), Watched(0))
        let clock = ManualClock()
        let patience = DataProviderContract.Patience(beforeCancel: .seconds(5), clock: clock)
        let battery = Task {
            try await DataProviderContract.check(input: 1, patience: patience, rules: [rule]) { Waiting(asked, open) }
        }
        try await asked.wait { $0 == (rule == .takesConcurrentRequests ? 20 : 1) }
        battery.cancel()
        await #expect(throws: CancellationError.self) { try await battery.value }
        try await open.wait { $0 == 0 }
    }

    @Test("throws when it is cancelled also where no request waits for anything", arguments: [20, 81])
    func cancelledAtOnce(request: Int) async throws {
        let (asked, battery) = (Watched(0), Watched<Task<[DataProviderContract.Breach], any Error>?>(nil))
        let task = Task {
            try await battery.wait { $0 != nil }
            return try await DataProviderContract.check(input: 1, rules: [.takesConcurrentRequests]) {
                ClosureDataProvider { (input: Int) in
                    if asked.countOne() == request { battery.value?.cancel() }
                    return input
                }
            }
        }
        battery.change { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
        // After the first crowd no other is asked.
        #expect(request != 20 || asked.value == 20)
    }

    @Test("leaves no request behind that is to call back when it is cancelled")
    func cancelledCallback() async throws {
        let (asked, open) = (Watched(0), Watched(0))
        let clock = ManualClock()
        let patience = DataProviderContract.Patience(beforeCancel: .seconds(5), clock: clock)
        let battery = Task {
            try await DataProviderContract.check(input: 1, patience: patience, rules: [.answersOnce]) {
                CallingOnce(asked, open)
            }
        }
        // The first is answered, the second cancelled at once. The third is left alone for a moment.
        try await asked.wait { $0 == 3 }
        try await open.wait { $0 == 1 }
        battery.cancel()
        await #expect(throws: CancellationError.self) { try await battery.value }
        try await open.wait { $0 == 0 }
    }
}

/// Never answers. A class, so that it is looked at what holds it.
private final class Waiting: DataProvider {
    private let asked: Watched<Int>
    private let open: Watched<Int>

    init(_ asked: Watched<Int>, _ open: Watched<Int>) {
        self.asked = asked
        self.open = open
    }

    func request(_ input: Int) async throws -> Int {
        open.change { $0 += 1 }
        asked.countOne()
        defer { open.change { $0 -= 1 } }
        try await Watched(false).wait { $0 }
        return input
    }
}

/// Stands in a line for all, and answers when its turn is over.
private final class Standing: CallbackDataProvider {
    private let line: Watched<Int>
    private let clock: ManualClock

    init(in line: Watched<Int>, clock: ManualClock) {
        self.line = line
        self.clock = clock
    }

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        let place = line.countOne()
        LibraryTask.start(clock: clock, isolation: nil) { [clock, line] _ in
            try? await clock.sleep(for: .milliseconds(300) * place)
            line.change { $0 -= 1 }
            completion(.success(input))
        }
        return nil
    }
}

/// Calls back at once when it is first asked, and later only if it is cancelled.
private struct CallingOnce: CallbackDataProvider {
    private let asked: Watched<Int>
    private let open: Watched<Int>

    init(_ asked: Watched<Int>, _ open: Watched<Int>) {
        self.asked = asked
        self.open = open
    }

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        open.change { $0 += 1 }
        let end: CancelHandler = { [open] in
            open.change { $0 -= 1 }
            completion(.success(input))
        }
        guard asked.countOne() > 1 else {
            end()
            return nil
        }
        return end
    }
}
