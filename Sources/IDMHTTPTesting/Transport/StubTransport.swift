import Foundation
public import IDMHTTP
import IDMTesting

/// A transport without a network, which answers what the test says.
///
/// ```swift
/// let transport = StubTransport()
/// transport.on(.get, "/v1/users/{id}", answer: .json(#"{"name": "Ada"}"#))
/// transport.on(
///     .get, "/v1/flaky", answers: [.failure(URLError(.notConnectedToInternet)), .success(.text("at last"))])
/// transport.on(.post, "/v1/users") { request in
///     try await gate.pass()
///     return .json("{}", status: 201)
/// }
/// let service = HTTPService(configuration: configuration, transport: transport)
/// ```
///
/// Requests to any host are answered. For the paths of routes see
/// ``LoopbackServer/on(_:_:answer:fileID:filePath:line:column:)``.
///
/// A request without a route, and a request for which a route has no answer left, are failures, and throw that
/// `TestFailure`. A route that wasn't requested, or that has answers left, is a failure at the end of the `TestScope`,
/// or earlier with ``verify()``.
public final class StubTransport: HTTPTransport {
    private typealias Answer = Result<TransportResponse, any Error>

    private let routes = Observed(Routes<TransportRequest, Answer>())
    private let inbox = RequestInbox<TransportRequest> { "\($0.method) \($0.url)" }
    private let place: SourcePlace
    private let collector = FailureCollector.current

    /// Makes a transport that expects no request yet.
    public init(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        collector.atEnd(EndCheck(.expectations) { [routes] in routes.change { $0.takeLeftovers() } })
    }

    /// Makes a transport that answers every request with what a closure makes of it.
    public convenience init(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ answer: @escaping @Sendable (TransportRequest) async throws -> TransportResponse
    ) {
        self.init(fileID: fileID, filePath: filePath, line: line, column: column)
        on(nil, "*", fileID: fileID, filePath: filePath, line: line, column: column, answer)
    }

    /// Makes a transport that answers every request in the same way.
    public convenience init(
        answer: TransportResponse, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        self.init(fileID: fileID, filePath: filePath, line: line, column: column)
        on(nil, "*", answer: answer, fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// Makes a transport that fails every request with an error.
    public convenience init(
        failing error: any Error, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        self.init(fileID: fileID, filePath: filePath, line: line, column: column)
        on(nil, "*", failing: error, fileID: fileID, filePath: filePath, line: line, column: column)
    }

    // MARK: Routes

    /// Answers every request of a method to a path in the same way.
    ///
    /// - Parameters:
    ///   - method: The method. HEAD is answered by the route for GET, unless it has one of its own. Nil for all.
    ///   - path: The path, with that of the base URL. `{name}` stands for any segment, and an asterisk at the end for
    ///     anything that follows. Of two routes that fit, the younger one answers.
    ///   - answer: What is answered.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    public func on(
        _ method: ServiceRequest.Method?, _ path: String, answer: TransportResponse, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        add(method, path, .endless(.success(answer)), fileID, filePath, line, column)
    }

    /// Fails every request of a method to a path with an error.
    public func on(
        _ method: ServiceRequest.Method?, _ path: String, failing error: any Error, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        add(method, path, .endless(.failure(error)), fileID, filePath, line, column)
    }

    /// Answers each request of a method to a path with the next answer. One request more is a failure.
    public func on(
        _ method: ServiceRequest.Method?, _ path: String, answers: [Result<TransportResponse, any Error>],
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        add(method, path, .counted(answers), fileID, filePath, line, column)
    }

    /// Answers each request of a method to a path with what a closure returns or throws.
    public func on(
        _ method: ServiceRequest.Method?, _ path: String, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ answer: @escaping @Sendable (TransportRequest) async throws -> TransportResponse
    ) {
        add(method, path, .computed { .success(try await answer($0)) }, fileID, filePath, line, column)
    }

    private func add(
        _ method: ServiceRequest.Method?, _ path: String, _ supply: Route<TransportRequest, Answer>.Supply,
        _ fileID: StaticString, _ filePath: StaticString, _ line: Int, _ column: Int
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        routes.change { $0.add(Route(method, path, supply, place)) }
    }

    // MARK: What was seen

    /// The requests, in the order in which they were made.
    public var requests: [TransportRequest] { inbox.requests }

    /// Waits for the earliest request that the test hasn't been given yet.
    ///
    /// - Throws: The recorded `TestFailure`, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws -> TransportRequest {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await inbox.next(at: place, within: limit)
    }

    /// Fails unless all routes have been used up: asked at all, and as often as they have answers.
    public func verify() {
        for failure in routes.change({ $0.takeLeftovers() }) { collector.record(failure) }
    }

    // MARK: The transport

    /// Gives the next answer of the route. Throws `TestFailure`, and records it, if there is none.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        inbox.add(request)
        let path = request.url.path(percentEncoded: true)
        switch routes.change({ $0.take(request.method, path).choice }) {
        case .answer(let answer): return try answer.get()
        case .compute(let body, _): return try await body(request).get()
        case .none(let words, let place):
            let failure = TestFailure(words, at: place ?? self.place)
            collector.record(failure)
            throw failure
        }
    }
}
