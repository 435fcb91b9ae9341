import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("The tasks that the library makes", .timeLimit(.ample))
struct LibraryTaskTests {
    @Test("prefer the executor of the task-local")
    func executor() async throws {
        let (executor, provider) = (CountingExecutor(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider)
        let task = LibraryTask.$executor.withValue(executor) { integrator.prepareCall(1).onSuccess { _ in }.call() }
        try await provider.waitForRequest().answer(1)
        await task.finish()
        #expect(await task.outcome == .success(1))
        #expect(executor.jobCount > 0)
    }

    @Test("prefer it wherever in a flow they are started")
    func everywhere() async throws {
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
            "a call", "one in line", "a joined one", "one within a time", "a shared request", "a member", "another",
            "an element", "one before", "the next one", "the following call",
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

    @Test("prefer an executor on every actor that has none of its own")
    func preferences() {
        #expect(!LibraryTask.takesNoOther(nil))
        #expect(!LibraryTask.takesNoOther(Plain()))
        #expect(LibraryTask.takesNoOther(MainActor.shared))
        #if compiler(>=6.3)
        // Before, nobody could tell.
        guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else { return }
        #expect(LibraryTask.takesNoOther(Own()))
        #expect(LibraryTask.takesNoOther(ItsOwn()))
        #endif
    }

    /// Watches, and runs last what comes first.
    private final class LastFirst: ActivityTracker {
        private let jobs = Observed<[UnownedJob]>([])

        let isTracking = true
        let ordersWork = false

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.change { $0.append(job) }
        }

        /// Runs what there is, whenever there is something, until the task is cancelled.
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
        /// As inside of a handler.
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

    @Test("start on their actor in their order, whatever their executor makes of it")
    func order() async throws {
        let (watch, log) = (LastFirst(), Log())
        LibraryTask.beginTracking()
        await LibraryTask.$executor.withValue(watch) { await Starter().start(9, log) }
        let running = Task { try await watch.run() }
        try await log.count(reaches: 9)
        running.cancel()
        _ = await running.result
        #expect(log.entries == (0..<9).map { "\($0)" })
    }

    /// Whether it was called on the main actor.
    private nonisolated func isOnMain() async -> Bool {
        #isolation === MainActor.shared
    }

    private nonisolated func isOnMainHearingCancel() async -> Bool {
        await LibraryTask.reactingToCancel {
            await isOnMain()
        } onCancel: {
        }
    }

    @Test("hear of a cancel without leaving the caller's actor")
    @MainActor
    func hearingOnMain() async {
        #expect(await isOnMainHearingCancel())
    }

    @Test("hear of a cancel on no actor as well")
    @concurrent
    func hearingOnPool() async {
        #expect(await !isOnMainHearingCancel())
    }

    @Test("hear of a cancel at once, before what they wait for, and of one that came before")
    @MainActor
    func hearing() async {
        // The first step of an immediate task ends where it waits.
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let log = Log()
        let (numbers, numbersDone) = AsyncStream<Int>.makeStream()
        let task = Task.immediate {
            for _ in 0..<2 {
                await LibraryTask.reactingToCancel {
                    log.add("work")
                    for await _ in numbers {}
                } onCancel: {
                    log.add("cancel")
                }
            }
        }
        #expect(log.entries == ["work"])
        task.cancel()
        #expect(log.entries == ["work", "cancel"])
        numbersDone.finish()
        await task.value
        #expect(log.entries == ["work", "cancel", "cancel", "work"])
    }
}
