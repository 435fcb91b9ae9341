import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct LibraryTaskTests {
    @Test func `every task of a flow prefers the executor of the task-local`() async throws {
        let executor = CountingExecutor()
        let asked = Observed<[String: Bool]>([:])
        @Sendable func marking(_ name: String) -> ClosureDataProvider<Int, Int> {
            ClosureDataProvider { input in
                let isPreferred = withUnsafeCurrentTask {
                    $0?.unownedTaskExecutor == executor.asUnownedTaskExecutor()
                }
                asked.change { $0[name] = isPreferred && $0[name] != false }
                return input
            }
        }
        let names = [
            "call", "queued call", "joined call", "timeout", "shared request", "first member", "second member",
            "element", "first stage", "second stage", "next call",
        ]
        await LibraryTask.binding(LibraryTask.$executor, to: executor) {
            let queue = Integrator(marking(names[1]), executing: .queue)
            let joining = Integrator(marking(names[2]), executing: .only(joining: true))
            let sharing = Integrator(marking(names[4]).coalesced(by: { $0 }))
            let following = Integrator(marking(names[10])).prepareCall(1)
            let tasks = [
                Integrator(marking(names[0])).prepareCall(1).nextSuccess(following).call(),
                queue.prepareCall(1).call(), queue.prepareCall(2).call(),
                joining.prepareCall(1).call(), joining.prepareCall(1).call(),
                Integrator(marking(names[3]).timeout(.seconds(600))).prepareCall(1).call(),
                sharing.prepareCall(1).call(), sharing.prepareCall(1).call(),
                Integrator(marking(names[8]) >>>> marking(names[9])).prepareCall(1).call(),
            ]
            let group = Integrator(marking(names[5]) >><< marking(names[6])).prepareCall((1, 2)).call()
            let each = Integrator(marking(names[7]).each()).prepareCall([1, 2]).call()
            for task in tasks { await task.finish() }
            await group.finish()
            await each.finish()
        }
        try await asked.wait { $0.count == names.count }
        #expect(asked.value == Dictionary(uniqueKeysWithValues: names.map { ($0, true) }))
    }

    private actor Plain {}

    private actor Own {
        nonisolated let executor = ManualExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    }

    private actor ItsOwn: SerialExecutor {
        nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }
        nonisolated func enqueue(_ job: consuming ExecutorJob) {}
    }

    @Test func `only an actor with an executor of its own takes no other`() {
        let actors: [(any Actor)?] = [nil, Plain(), MainActor.shared]
        #expect(actors.map { LibraryTask.takesNoOther($0) } == [false, false, true])
        #if compiler(>=6.3)
        // Earlier runtimes can't ask an actor for its executor.
        guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else { return }
        #expect(LibraryTask.takesNoOther(Own()) && LibraryTask.takesNoOther(ItsOwn()))
        #endif
    }

    /// Runs the newest of its jobs first.
    private final class LastFirst: ActivityTracker {
        private let jobs = Observed<[UnownedJob]>([])

        let isTracking = true
        let ordersWork = false

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.change { $0.append(job) }
        }

        /// Runs jobs until the task is cancelled.
        func run() async throws {
            while true {
                try await jobs.wait { !$0.isEmpty }
                while let job = jobs.change({ $0.popLast() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }

        func noteActivity() {}
        func beginActivity() {}
        func endActivity() {}
        func activityStarts(on actor: any Actor) {}
    }

    private actor Starter {
        /// Starts tasks as in a handler.
        func start(_ count: Int, _ log: Log) async {
            await asHandler {
                for number in 0..<count {
                    LibraryTask.start(isolation: self) { isolation in
                        log.add(isolation === self ? "\(number)" : "elsewhere")
                    }
                }
            }
        }
    }

    @Test func `tasks start on their actor in order, in whatever order their executor runs them`() async throws {
        let (watch, log) = (LastFirst(), Log())
        LibraryTask.beginTracking()
        await LibraryTask.$executor.withValue(watch) { await Starter().start(9, log) }
        let running = Task { try await watch.run() }
        try await log.count(reaches: 9)
        running.cancel()
        _ = await running.result
        #expect(log.entries == (0..<9).map { "\($0)" })
    }

    @Test(arguments: [CallerPlace.mainActor, .noActor])
    func `reactingToCancel keeps the caller's isolation`(place: CallerPlace) async throws {
        let isOnMain = try await place.run { isolation in
            try await LibraryTask.reactingToCancel(isolation: isolation) {
                try await MainActorProbe().request(1)
            } onCancel: {
            }
        }

        #expect(isOnMain == (place == .mainActor))
    }
}
