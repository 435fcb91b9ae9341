public import Foundation
import IDMCore
public import IDMHTTP
import IDMTesting

/// A real HTTP/1.1 server on a port of this machine's loopback, which does what the test says.
///
/// ```swift
/// try await LoopbackServer.run { server in
///     server.on(.get, "/users/{id}", answer: .json(#"{"name": "Ada"}"#))
///     server.on(.get, "/flaky", answers: [.status(503), .text("at last")])
///     server.on(.post, "/users") { request in .json(request.body, status: 201) }
///     server.on(.get, "/film", answer: .resource(film).cut(at: .body(1_000)))
///
///     let service = HTTPService(configuration: ServiceConfiguration(baseURL: server.url))
///     _ = try await service.request(ServiceRequest(.get, "/users/1", headers: ["Accept": "application/json"]))
///     let request = try await server.waitForRequest()
///     #expect(request.headers[.accept] == "application/json")
/// }
/// ```
///
/// An ``Answer`` describes what is sent, a ``Request`` what arrived, and a ``Resource`` a large file. Tests with
/// servers may run at the same time: each server has a port and a thread of its own. Only closures and delays of
/// routes, and failures, run in tasks, with the task-locals of the code that made the server, so an expectation in a
/// closure belongs to that test.
///
/// A server holds three descriptors of the process, and a connection one at each end. Where hundreds of tests with
/// servers run at once there may be no room: many a shell gives a process 256 or 1,024. A server that can't start
/// throws a ``StartFault`` that says so, and a connection waits until there is room.
///
/// These are failures, answered with 500, 501 or 400: a request without a route, a request for which a route has no
/// answer left, bytes that aren't HTTP, and a closure that throws. A route that wasn't requested, or that has answers
/// left, is a failure at the end of the `TestScope`, or earlier with ``verify()``.
///
/// The server never holds more of a body than a small block, and writes only when the network takes it: see
/// ``Connection/isBlocked``.
public final class LoopbackServer: Sendable {
    /// The port, which the system has chosen.
    public let port: Int
    private let hub: ServerHub

    /// Starts a server. It stops when it is released; ``stop()`` waits for that.
    ///
    /// - Parameters:
    ///   - bodyLimit: How many bytes of each request's body are kept. All of them are counted.
    ///   - remembers: Whether requests and connections are kept at all. Not, in a test of memory:
    ///     ``waitForRequest(within:fileID:filePath:line:column:)`` then waits for ever.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Throws: ``StartFault``, if the system has no port to give.
    public init(
        keepingBodiesUpTo bodyLimit: Int = 1 << 20, remembers: Bool = true, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) throws {
        let listener = try ServerSocket.listening()
        port = listener.port
        do {
            hub = try ServerHub(
                place: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column),
                bodyLimit: bodyLimit, remembers: remembers)
        } catch {
            listener.close()
            throw error
        }
        hub.start(listening: listener)
    }

    deinit {
        hub.stop()
    }

    /// Starts a server for a body, and stops it when the body is over.
    ///
    /// - Parameters:
    ///   - isolation: The caller's actor. Leave it out.
    ///   - body: The test, or a part of it.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    public static func run<R>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        isolation: isolated (any Actor)? = #isolation, _ body: (LoopbackServer) async throws -> R
    ) async throws -> R {
        let server = try LoopbackServer(fileID: fileID, filePath: filePath, line: line, column: column)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Closes the port and all connections, cancels what routes wait for, and returns when nothing of it is left.
    ///
    /// What was seen can be read as before. Stopping again does nothing more.
    public func stop() async {
        hub.stop()
        await hub.ended()
    }

    /// The address of the server: `http://127.0.0.1:` and the port.
    public var url: URL { url("") }

    /// The address of something on the server. The path begins with a slash, and is escaped.
    public func url(_ path: String) -> URL {
        // A path that can't stand in a URL is the test's own mistake, and leads where no route is.
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(fileURLWithPath: path)
    }

    /// Fails unless all routes have been used up: asked at all, and as often as they have answers.
    public func verify() {
        hub.verify()
    }

    // MARK: Routes

    /// Answers every request of a method to a path in the same way.
    ///
    /// - Parameters:
    ///   - method: The method. HEAD is answered by the route for GET, unless it has one of its own. Nil for all.
    ///   - path: The path. `{name}` stands for any segment, and an asterisk at the end for anything that follows. Of
    ///     two routes that fit, the younger one answers.
    ///   - answer: What is answered.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    public func on(
        _ method: ServiceRequest.Method?, _ path: String, answer: Answer, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        hub.add(Route(method, path, .endless(answer), place))
    }

    /// Answers each request of a method to a path with the next answer. One request more is a failure.
    public func on(
        _ method: ServiceRequest.Method?, _ path: String, answers: [Answer], fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        hub.add(Route(method, path, .counted(answers), place))
    }

    /// Answers each request of a method to a path with what a closure makes of it, once its body has come.
    ///
    /// The closure runs in a task, which is cancelled when the connection closes. If it throws, that is a failure.
    public func on(
        _ method: ServiceRequest.Method?, _ path: String, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ answer: @escaping @Sendable (Request) async throws -> Answer
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        hub.add(Route(method, path, .computed(answer), place))
    }

    /// Redirects each of the paths to the one behind it: a chain of `paths.count - 1` hops.
    public func redirect(
        through paths: [String], status: Int = 302, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        for (path, next) in zip(paths, paths.dropFirst()) {
            on(
                nil, path, answer: .redirect(to: next, status: status), fileID: fileID, filePath: filePath, line: line,
                column: column)
        }
    }

    // MARK: What was seen

    /// The record of the server so far.
    public var journal: Journal { hub.journal.value }

    /// The requests that have come, in the order in which they were complete, or else in which they were answered or
    /// broken off.
    public var requests: [Request] { journal.requests }

    /// Waits for the earliest request that the test hasn't been given yet.
    ///
    /// - Throws: The recorded `TestFailure`, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws -> Request {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await hub.waitForRequest(at: place, within: limit)
    }

    /// Waits until the journal of the server meets a condition.
    ///
    /// ```swift
    /// try await server.waitUntil { $0.requestCount == 2 }
    /// ```
    ///
    /// - Throws: The recorded `TestFailure`, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitUntil(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column, _ isSatisfied: @escaping @Sendable (Journal) -> Bool
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await hub.wait(at: place, within: limit, until: isSatisfied)
    }
}
