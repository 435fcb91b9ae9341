import Foundation
import IDMCore
import IDMTesting

/// The shared state of the server, its thread and its tasks.
final class ServerHub: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Answer = LoopbackServer.Answer

    /// A message for the thread.
    enum Message: Sendable {
        case stop
        /// The wait of a connection has ended.
        case goOn(connection: Int, wait: Int)
        case answer(Answer, connection: Int, wait: Int)
    }

    private struct Mail {
        var messages: [Message] = []
        var isClosed = false
    }

    let journal = Observed(LoopbackServer.Journal())
    let bodyLimit: Int
    private let remembers: Bool
    private let routes = Locked(Routes<Request, Answer>())
    private let mail = Locked(Mail())
    private let inbox = RequestInbox<Request> { "\($0.method) \($0.target)" }
    let pipe: WakePipe
    private let place: SourcePlace
    private let collector = FailureCollector.current
    private let executor = LibraryTask.executor
    private let jobs = ServerJobQueue()

    init(place: SourcePlace, bodyLimit: Int, remembers: Bool) throws(LoopbackServer.StartFault) {
        self.place = place
        self.bodyLimit = bodyLimit
        self.remembers = remembers
        pipe = try WakePipe()
    }

    // MARK: Start and end

    func start(listening listener: ServerSocket) {
        collector.atEnd(
            EndCheck(.expectations) { [self] in
                stop()
                return routes.withLock { $0.takeLeftovers() }
            })
        // Nothing is bound on the thread. So tasks are started from this one, which has what is bound here: what fails
        // in them, and what a route expects, belongs to the test.
        Task { [jobs, executor] in await jobs.run(preferring: executor) }
        let thread = Thread { [self] in
            serve(listener)
            jobs.finish()
            // The thread may hold the hub for a moment longer.
            _ = routes.withLock { $0.settle() }
            // Nobody wakes a pipe that is closed: its number may be another file's by then.
            mail.withLock { mail in
                mail.isClosed = true
                mail.messages = []
            }
            pipe.close()
            journal.change { $0.isStopped = true }
        }
        thread.name = "LoopbackServer"
        thread.start()
    }

    /// Holds nothing of the connections when this returns.
    private func serve(_ listener: ServerSocket) {
        ServerLoop(hub: self, listener: listener, pipe: pipe).run()
    }

    func stop() { post(.stop) }

    /// Returns when the thread is over, and all tasks. Nothing is held then of what the routes use.
    func ended() async {
        try? await journal.wait(ignoringCancel: true) { $0.isStopped && $0.runningTasks == 0 }
    }

    func verify() {
        for failure in routes.withLock({ $0.takeLeftovers() }) { collector.record(failure) }
    }

    // MARK: Messages

    func post(_ message: Message) {
        mail.withLock { mail in
            guard !mail.isClosed else { return }
            mail.messages.append(message)
            // Under the lock, or the pipe could be closed meanwhile.
            if mail.messages.count == 1 { pipe.wake() }
        }
    }

    func takeMessages() -> [Message] {
        mail.withLock { mail in
            defer { mail.messages = [] }
            return mail.messages
        }
    }

    // MARK: Routes

    func add(_ route: Route<Request, Answer>) {
        routes.withLock { $0.add(route) }
    }

    func choice(for head: RequestHead) -> (choice: Routes<Request, Answer>.Choice, parameters: [String: String]) {
        routes.withLock { $0.take(head.method, String(head.target.originForm)) }
    }

    func fail(_ message: String, at place: SourcePlace? = nil) {
        collector.record(message, at: place ?? self.place)
    }

    // MARK: Tasks

    /// Starts a task whose end is posted to the thread.
    func start(_ body: @escaping @Sendable () async -> Message?) -> ServerJob {
        journal.change { $0.runningTasks += 1 }
        let once = Once(body)
        let job = ServerJob { [self] in
            await perform(once)
            journal.change { $0.runningTasks -= 1 }
        }
        jobs.add(job)
        return job
    }

    /// Releases the body before it returns: leaks may be checked after the end of the task.
    private func perform(_ once: Once) async {
        guard let message = await once.take()?() else { return }
        post(message)
    }

    /// A body, until it is taken: a task holds what it was started with until after its last line.
    private final class Once: Sendable {
        typealias Body = @Sendable () async -> Message?

        private let body: Locked<Body?>

        init(_ body: @escaping Body) {
            self.body = Locked(body)
        }

        func take() -> Body? {
            body.withLock { $0.take() }
        }
    }

    // MARK: The journal

    func waitForRequest(at place: SourcePlace, within limit: Duration?) async throws -> Request {
        try await inbox.next(at: place, within: limit)
    }

    func wait(
        at place: SourcePlace, within limit: Duration?,
        until isSatisfied: @escaping @Sendable (LoopbackServer.Journal) -> Bool
    ) async throws {
        try await collector.wait(
            for: journal, at: place, within: limit, until: isSatisfied,
            missing: { journal in
                if isSatisfied(journal) { return nil }
                let seen = "\(journal.requestCount.requests) on \(journal.connectionCount.of("connection"))"
                return "Expected the server to see something else, and \(seen) came"
            })
    }

    func record(_ request: Request) {
        let remembers = remembers
        journal.change { journal in
            journal.requestCount += 1
            if remembers { journal.requests.append(request) }
        }
        if remembers { inbox.add(request) }
    }

    func opened(_ connection: Int) {
        let remembers = remembers
        journal.change { journal in
            journal.connectionCount += 1
            journal.openConnectionCount += 1
            if remembers { journal.connections.append(LoopbackServer.Connection(number: connection)) }
        }
    }

    func closed(_ connection: Int) {
        let remembers = remembers
        // At once: who waits for the one may look at the other.
        journal.change { journal in
            if remembers { journal.connections[connection - 1].isClosed = true }
            journal.openConnectionCount -= 1
        }
    }

    func change(_ connection: Int, _ change: @Sendable (inout LoopbackServer.Connection) -> Void) {
        guard remembers else { return }
        // In their order, and all of them: the number is the place.
        journal.change { change(&$0.connections[connection - 1]) }
    }
}
