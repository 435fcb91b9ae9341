import Foundation
import IDMCore
import IDMTesting

/// One connection, on the server's thread.
final class ServerConnection {
    typealias Request = LoopbackServer.Request
    typealias Answer = LoopbackServer.Answer

    private typealias Body = @Sendable (Request) async throws -> Answer

    private enum Waiting {
        case reading(Int)
        case writing(Data)
        /// Waits for a task. The number identifies a late one.
        case task(ServerJob, number: Int)
        /// Waits for the client to close.
        case farewell
        case over
    }

    let socket: ServerSocket
    private let number: Int
    private let hub: ServerHub
    private var conversation: HTTPConnection
    private var waiting = Waiting.reading(HTTPConnection.blockLength)
    private var lastTask = 0
    /// The answer for the request that is being read.
    private var computing: (body: Body, route: Route<Request, Answer>)?

    init(number: Int, socket: ServerSocket, hub: ServerHub) {
        self.number = number
        self.socket = socket
        self.hub = hub
        conversation = HTTPConnection(connection: number, bodyLimit: hub.bodyLimit)
    }

    var isOver: Bool {
        if case .over = waiting { true } else { false }
    }

    var wantsToRead: Bool {
        switch waiting {
        case .reading, .farewell: true
        case .writing, .task: conversation.hasRoom
        case .over: false
        }
    }

    var wantsToWrite: Bool {
        if case .writing = waiting { true } else { false }
    }

    // MARK: What happens

    func read() {
        var limit = HTTPConnection.blockLength
        if case .reading(let most) = waiting { limit = most }
        switch socket.receive(limit) {
        case .nothing: return
        case .failed, .end: breakOff()
        case .bytes(let bytes):
            hub.change(number) { $0.bytesReceived += bytes.count }
            switch waiting {
            case .farewell, .over: return
            case .reading:
                conversation.received(bytes[...])
                proceed()
            case .writing, .task: conversation.received(bytes[...])
            }
        }
    }

    func write() {
        guard case .writing(let data) = waiting else { return }
        if send(data) { proceed() }
    }

    /// The client is gone.
    func breakOff() {
        guard !isOver else { return }
        if let request = conversation.ended() { hub.record(request) }
        close()
    }

    func goOn(_ task: Int, _ answer: Answer?) {
        guard case .task(_, task) = waiting else { return }
        if let answer { conversation.computed(answer) }
        proceed()
    }

    /// The server stops.
    func end() {
        guard !isOver else { return }
        close()
    }

    // MARK: What is done

    /// Does what the conversation asks for, until it is something that takes its time.
    func proceed() {
        while true {
            switch conversation.next() {
            case .read(let limit):
                waiting = .reading(limit)
                return
            case .write(let data):
                guard send(data) else { return }
            case .wait(let pause):
                wait { number, task in
                    // A task that is cancelled belongs to a connection that has closed.
                    (try? await pause.wait()).map { .goOn(connection: number, wait: task) }
                }
                return
            case .route(let head):
                guard route(head) else { return }
            case .record(let request):
                hub.record(request)
            case .compute(let request):
                compute(request)
                return
            case .complain(let reason):
                fail("What came isn't a request: \(reason).")
                return
            case .close:
                socket.finish()
                waiting = .farewell
                return
            case .reset:
                close(resetting: true)
                return
            }
        }
    }

    /// Sends as much as the network takes. Whether that was all.
    private func send(_ data: Data) -> Bool {
        var sent = 0
        let isWhole: Bool? = data.withUnsafeBytes { bytes in
            while sent < bytes.count {
                switch socket.send(UnsafeRawBufferPointer(rebasing: bytes[sent...])) {
                case .bytes(let count): sent += count
                case .nothing: return false
                case .failed: return nil
                }
            }
            return true
        }
        let total = sent
        let isBlocked = isWhole == false
        hub.change(number) { connection in
            connection.bytesSent += total
            connection.isBlocked = isBlocked
        }
        switch isWhole {
        case true?: return true
        case false?: waiting = .writing(data.dropFirst(sent))
        case nil: breakOff()
        }
        return false
    }

    private func wait(_ body: @escaping @Sendable (_ number: Int, _ task: Int) async -> ServerHub.Message?) {
        lastTask += 1
        let (number, task) = (number, lastTask)
        waiting = .task(hub.start { await body(number, task) }, number: task)
    }

    /// Records a failure before its effects can be seen.
    private func fail(_ message: String, at place: SourcePlace? = nil) {
        wait { [hub] number, task in
            hub.fail(message, at: place)
            return .goOn(connection: number, wait: task)
        }
    }

    /// Finds out who answers. False, if that takes its time.
    private func route(_ head: RequestHead) -> Bool {
        let (choice, parameters) = hub.choice(for: head)
        switch choice {
        case .answer(let answer):
            conversation.route(to: answer, parameters: parameters)
        case .compute(let body, let route):
            computing = (body, route)
            conversation.route(to: nil, parameters: parameters)
        case .none(let words, let place):
            conversation.route(to: .text(words, status: place == nil ? 501 : 500))
            fail(words, at: place)
            return false
        }
        return true
    }

    private func compute(_ request: Request) {
        guard let (body, route) = computing else { return }
        computing = nil
        wait { [hub] number, task in
            let answer: Answer
            do {
                answer = try await body(request)
            } catch {
                if Task.isCancelled { return nil }
                hub.fail("\(route.name) threw: \(error)", at: route.place)
                answer = .text("\(error)", status: 500)
            }
            return .answer(answer, connection: number, wait: task)
        }
    }

    private func close(resetting: Bool = false) {
        if case .task(let task, _) = waiting { task.cancel() }
        waiting = .over
        if resetting { socket.reset() } else { socket.close() }
        hub.closed(number)
    }
}
