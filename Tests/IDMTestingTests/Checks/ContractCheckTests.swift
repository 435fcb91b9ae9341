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
