import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The battery of the contract", .timeLimit(.ample))
struct ContractCheckTests {
    @Test("asks from many tasks at once, so that also a provider that doesn't suspend has several threads in it")
    func manyTasks() async throws {
        let line = Line()
        _ = try await withTaskExecutorPreference(line) {
            try await DataProviderContract.check(input: 1, rules: [.takesConcurrentRequests]) { Echo<Int>() }
        }
        #expect(line.mostInLine >= 18)
    }

    @Test("asks from many tasks at once also where there are many inputs")
    func manyTasksOfMany() async throws {
        let line = Line()
        _ = try await withTaskExecutorPreference(line) {
            try await DataProviderContract.check(
                inputs: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, rules: [.takesConcurrentRequests]
            ) { Echo<Int>() }
        }
        #expect(line.mostInLine >= 18)
    }

    @Test("lets nobody overtake the first with an input, or be overtaken by the last, in whatever order tasks run")
    func turns() async throws {
        let mixed = Watched<Set<Int>>([])
        try await explore(seeds: 1...30) { _ in
            let asked = Watched<[[Int]]>([])
            try await DataProviderContract.check(inputs: 0, 1, 2, 3, rules: [.takesConcurrentRequests]) {
                let number = asked.change { asked in
                    asked.append([])
                    return asked.count - 1
                }
                return ClosureDataProvider { (input: Int) in
                    asked.change { $0[number].append(input) }
                    return input
                }
            }
            let crowds = asked.value.filter { $0.count >= 20 }.map { $0.prefix(20) }
            // One for each way to cancel, of which the first is every second one, and one of which nobody is cancelled.
            try #require(crowds.count >= 7)
            for (number, crowd) in crowds.prefix(7).enumerated() {
                try #require(crowd.first == 0 && crowd.last == 3)
                let isInTurns = Set(crowd.prefix(4)).count == 4 && Set(crowd.suffix(4)).count == 4
                if !isInTurns { mixed.change { _ = $0.insert(number) } }
            }
        }
        // In these nothing depends on the order, and all are asked together.
        #expect(mixed.value == [0, 6])
    }

    /// Runs one job after the other, and counts how many were in line at once.
    private final class Line: TaskExecutor {
        private struct State {
            var jobs: [UnownedJob] = []
            var most = 0
            var isRunning = false
        }

        private let state = Watched(State())

        var mostInLine: Int { state.value.most }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isFirst = state.change { state in
                state.jobs.append(job)
                state.most = max(state.most, state.jobs.count)
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if isFirst { Task { runAll() } }
        }

        private func runAll() {
            while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }

        private func next() -> UnownedJob? {
            state.change { state in
                state.isRunning = !state.jobs.isEmpty
                return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
            }
        }
    }
}
