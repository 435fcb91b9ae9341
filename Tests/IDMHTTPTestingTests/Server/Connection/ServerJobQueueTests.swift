import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("Errands of a server", .timeLimit(.ample))
struct ErrandQueueTests {
    @TaskLocal private static var bound = "nothing"

    @Test("Jobs start with the task-locals of the queue")
    func start() async throws {
        let (queue, log) = (ServerJobQueue(), Log())
        func add(_ word: String) {
            queue.add(ServerJob { log.add("\(word) with \(Self.bound)") })
        }
        add("before")
        let run = Self.$bound.withValue("all") { Task { await queue.run(preferring: nil) } }
        try await log.contains("before with all")
        add("meanwhile")
        try await log.contains("meanwhile with all")
        // What has come is not forgotten, though no more does.
        add("last")
        queue.finish()
        await run.value
        try await log.contains("last with all")
    }

    @Test("Jobs start also if the task of the queue is cancelled")
    func cancelled() async throws {
        let (queue, log) = (ServerJobQueue(), Log())
        let run = Task { await queue.run(preferring: nil) }
        run.cancel()
        queue.add(ServerJob { log.add("started") })
        queue.finish()
        await run.value
        try await log.contains("started")
    }
}
