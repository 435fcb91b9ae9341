import Foundation
public import IDMHTTP
import IDMTesting

/// Checks that a transport of yours keeps the contract of `HTTPTransport`, against a ``LoopbackServer``.
///
/// ```swift
/// try await TransportContract.check { ClientTransport() }
/// ```
public enum TransportContract {
    /// A rule for transports.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// Method, address, header and body arrive as they are in the request, and status, header and body of the
        /// response are returned as they were sent.
        case carriesBothWays
        /// A response is returned when its header is there, before its body is.
        case answersWithTheHeader
        /// A redirect is returned, and not followed.
        case returnsRedirects
        /// Cookies are sent only if they are in the header of the request.
        case keepsNoCookies
        /// A cancelled request throws soon, and its connection closes.
        case reactsToCancel
        /// A response that breaks off throws: when it is requested, or when its body is read.
        case reportsBrokenBodies
        /// Twenty requests at once all get their own responses.
        case answersConcurrentRequests
    }

    /// A rule that a transport breaks.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The rule.
        public let rule: Rule
        /// The expected and the observed behavior.
        public let message: String

        /// The rule and the message.
        public var description: String { "\(rule): \(message)" }
    }

    /// Checks a transport, and records a failure for each rule that it breaks.
    ///
    /// - Parameters:
    ///   - limit: The limit of each step, in real time.
    ///   - rules: The rules that are checked.
    ///   - make: Makes a new transport. Called once for each rule.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Returns: The violations, which have been recorded.
    /// - Throws: The error of `make`; `CancellationError`, if the task is cancelled; ``LoopbackServer/StartFault``.
    @discardableResult
    public static func check<Transport: HTTPTransport>(
        limit: Duration = .seconds(10), rules: Set<Rule> = Set(Rule.allCases),
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable () throws -> Transport
    ) async throws -> [Violation] {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        let collector = FailureCollector.current
        var violations: [Violation] = []
        for rule in Rule.allCases where rules.contains(rule) {
            let check = TransportCheck(transport: try make(), limit: limit)
            let message = try await check.violation(of: rule)
            try Task.checkCancellation()
            guard let message else { continue }
            let violation = Violation(rule: rule, message: message)
            violations.append(violation)
            collector.record("\(Transport.self) breaks the contract of transports, \(violation).", at: place)
        }
        return violations
    }
}

/// The rules of ``TransportContract``, held against one transport.
private struct TransportCheck<Transport: HTTPTransport>: Sendable {
    let transport: Transport
    let limit: Duration

    /// Returns what is wrong, or nil.
    func violation(of rule: TransportContract.Rule) async throws -> String? {
        let found = Observed<String?>(nil)
        // In a scope of its own: a failure of the server is a violation of the transport.
        let failures = try await TestScope.failures(waitLimit: limit) {
            try await LoopbackServer.run { server in
                let message = try await violation(of: rule, server)
                found.change { $0 = message }
            }
        }
        return found.value ?? failures.first?.message
    }

    private func violation(of rule: TransportContract.Rule, _ server: LoopbackServer) async throws -> String? {
        switch rule {
        case .carriesBothWays: try await carriesBothWays(server)
        case .answersWithTheHeader: try await answersWithTheHeader(server)
        case .returnsRedirects: try await returnsRedirects(server)
        case .keepsNoCookies: try await keepsNoCookies(server)
        case .reactsToCancel: try await reactsToCancel(server)
        case .reportsBrokenBodies: try await reportsBrokenBodies(server)
        case .answersConcurrentRequests: try await answersConcurrentRequests(server)
        }
    }

    private func carriesBothWays(_ server: LoopbackServer) async throws -> String? {
        server.on(.put, "/a%20b", answer: .text("answer", status: 201).header("X-Answer", "one"))
        let request = TransportRequest(
            .put, server.url("/a%20b?q=%2B"), headers: ["X-Question": "two"],
            body: RequestBody.Encoded(Data("question".utf8)))
        guard let response = try await response(to: request) else {
            return "a request should be answered, and it was not"
        }
        let arrived = try await server.waitForRequest()
        let body = try await bytes(of: response)
        guard arrived.target == "/a%20b?q=%2B" else {
            return "the address should arrive unchanged, and \(arrived.target) did"
        }
        guard arrived.headers["X-Question"] == "two" else { return "the header should arrive, and it did not" }
        guard arrived.text == "question" else { return "the body should arrive, and “\(arrived.text)” did" }
        guard response.status == 201 else { return "the status should be 201, and it was \(response.status)" }
        guard response.headers["X-Answer"] == "one" else {
            return "the header of the response should be returned, and it was not"
        }
        return body == Data("answer".utf8) ? nil : "the body of the response should be returned, and it was not"
    }

    private func answersWithTheHeader(_ server: LoopbackServer) async throws -> String? {
        let gate = TestGate()
        server.on(.get, "/slow", answer: .text("late").waiting(for: gate, at: .body(2)))
        let response = try await response(to: TransportRequest(.get, server.url("/slow")))
        gate.open()
        guard let response else { return "a response should be returned with its header, and it waited for the body" }
        return try await bytes(of: response) == Data("late".utf8) ? nil : "the body should follow, and it did not"
    }

    private func returnsRedirects(_ server: LoopbackServer) async throws -> String? {
        server.on(.get, "/*") { $0.path == "/old" ? .redirect(to: "/new") : .text("followed") }
        let response = try await response(to: TransportRequest(.get, server.url("/old")))
        guard let response, response.status == 302 else { return "a redirect should be returned, and it was not" }
        return server.requests.contains { $0.path == "/new" } ? "a redirect should not be followed, and it was" : nil
    }

    private func keepsNoCookies(_ server: LoopbackServer) async throws -> String? {
        server.on(.get, "/a", answer: .text("a").header("Set-Cookie", "id=1; Path=/"))
        for _ in 0..<2 {
            guard let response = try await response(to: TransportRequest(.get, server.url("/a"))) else {
                return "a request should be answered, and it was not"
            }
            _ = try await bytes(of: response)
        }
        let hasCookie = server.requests.contains { $0.headers["Cookie"] != nil }
        return hasCookie ? "no cookie should be sent by itself, and one was" : nil
    }

    private func reactsToCancel(_ server: LoopbackServer) async throws -> String? {
        server.on(.get, "/never", answer: .never)
        let (isOver, request) = (Observed(false), TransportRequest(.get, server.url("/never")))
        let task = Task {
            _ = try? await transport.send(request)
            isOver.change { $0 = true }
        }
        _ = try await server.waitForRequest()
        task.cancel()
        guard try await holds(isOver, { $0 }) else { return "a cancelled request should throw, and it did not end" }
        guard (try? await server.waitUntil { $0.openConnectionCount == 0 }) == nil else { return nil }
        return "the connection of a cancelled request should close, and it stayed open"
    }

    private func reportsBrokenBodies(_ server: LoopbackServer) async throws -> String? {
        server.on(.get, "/broken", answer: .text("a text that breaks off").cut(at: .body(6)))
        do {
            guard let response = try await response(to: TransportRequest(.get, server.url("/broken"))) else {
                return "a response that breaks off should throw, and it did not end"
            }
            _ = try await bytes(of: response)
        } catch is TransportLimit {
            return "a response that breaks off should throw, and its body did not end"
        } catch {
            try Task.checkCancellation()
            return nil
        }
        return "a response that breaks off should throw, and it was returned"
    }

    private func answersConcurrentRequests(_ server: LoopbackServer) async throws -> String? {
        server.on(.get, "/{number}") { .text($0.parameters["number"] ?? "") }
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let request = TransportRequest(.get, server.url("/\(number)"))
                    guard let response = try await response(to: request) else { return true }
                    return try await bytes(of: response) != Data("\(number)".utf8)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        return wrong == 0 ? nil : "each of 20 requests should get its own response, and \(wrong) did not"
    }

    // MARK: Limits

    /// Returns the response, or nil at the limit.
    private func response(to request: TransportRequest) async throws -> TransportResponse? {
        try await limited { try await transport.send(request) }
    }

    private func bytes(of response: TransportResponse) async throws -> Data {
        let body = response.body
        guard let data = try await limited({ try await body.reduce(into: Data()) { $0 += $1 } }) else {
            throw TransportLimit()
        }
        return data
    }

    private func holds<Value>(_ watched: Observed<Value>, _ condition: @escaping @Sendable (Value) -> Bool) async throws
        -> Bool
    {
        do {
            try await watched.wait(within: limit, until: condition)
            return true
        } catch is WaitLimitReached {
            return false
        }
    }

    private func limited<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value? {
        let result = Observed<Result<Value, any Error>?>(nil)
        let task = Task {
            do {
                let value = try await work()
                result.change { $0 = .success(value) }
            } catch {
                result.change { $0 = .failure(error) }
            }
        }
        defer { task.cancel() }
        guard try await holds(result, { $0 != nil }) else { return nil }
        return try result.value?.get()
    }
}

/// The body of a response doesn't end.
private struct TransportLimit: Error {}
