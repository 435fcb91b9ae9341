import Foundation
import IDMCore
import TestSupport
import Testing

@testable import IDMHTTP

/// Interceptors that make something else of a cancel. The library cancels to pause.
@Suite("Transfers through interceptors", .fewAtOnce, .timeLimit(.ample))
struct InterceptedTransferTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private struct Wrapped: Error {
        let error: any Error
    }

    /// What becomes of an error.
    enum Way: CaseIterable, Sendable {
        /// Another error.
        case wrapped
        /// An answer.
        case answered
    }

    /// Answers nothing the first time, and says when it is cancelled.
    private func service(_ way: Way, _ log: Log) throws -> HTTPService {
        let transport = ScriptedTransport { _ in
            log.add("asked")
            if log.entries.count > 1 { return .text("x") }
            do { try await Signal().wait() } catch {
                log.add("ended")
                throw error
            }
            return .text("never")
        }
        let interceptor = ClosureInterceptor { request, next in
            do { return try await next(request) } catch {
                if way == .wrapped { throw Wrapped(error: error) }
                return ServiceResponse(status: 200, body: Data("offline".utf8))
            }
        }
        return try HTTPService(transport, interceptors: [interceptor])
    }

    @Test("A pause is neither a failure nor a success", arguments: Way.allCases, [true, false])
    func paused(way: Way, isUpload: Bool) async throws {
        let (log, control) = (Log(), PauseControl())
        let service = try service(way, log)
        let file = folder.url.appendingPathComponent("a")
        let task = Task {
            try await control.bind {
                if isUpload {
                    let request = ServiceRequest(.put, "/a", body: .text("x"))
                    return try await UploadProvider(service).request(request).text
                }
                _ = try await DownloadProvider(service).request(
                    ServiceDownload(ServiceRequest(.get, "/a"), to: .file(file)))
                return try String(contentsOf: file, encoding: .utf8)
            }
        }
        try await log.contains("asked")
        control.pause()
        try await log.contains("ended")
        control.resume()
        #expect(try await task.value == "x")
        #expect(log.entries == ["asked", "ended", "asked"])
    }

    @Test("Nothing that was begun for a user goes on for another one", arguments: [true, false])
    func otherUser(isUpload: Bool) async throws {
        let (log, control) = (Log(), PauseControl())
        var service = try service(.answered, log)
        let authentication = AuthenticationInterceptor(
            BearerAuthenticator(), for: service.configuration.baseURL, credential: "ada")
        service.interceptors = [authentication]
        let file = folder.url.appendingPathComponent("a")
        let task = Task { [service] in
            try await control.bind {
                if isUpload {
                    _ = try await UploadProvider(service).request(ServiceRequest(.put, "/a", body: .text("x")))
                } else {
                    _ = try await DownloadProvider(service).request(
                        ServiceDownload(ServiceRequest(.get, "/a"), to: .file(file)))
                }
            }
        }
        try await log.contains("asked")
        control.pause()
        try await log.contains("ended")
        authentication.logIn("bob")
        control.resume()
        await #expect {
            try await task.value
        } throws: { error in
            if case AuthenticationError.userHasChanged = error { true } else { false }
        }
        #expect(log.entries == ["asked", "ended"])
    }

    @Test("A cancelled download leaves nothing, and is told so", arguments: Way.allCases)
    func cancelledDownload(way: Way) async throws {
        let log = Log()
        let provider = DownloadProvider(try service(way, log))
        let download = ServiceDownload(ServiceRequest(.get, "/a"), to: .file(folder.url.appendingPathComponent("a")))
        let task = Task { try await provider.request(download) }
        try await log.contains("asked")
        #expect(try folder.names() == ["a.part"])
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try folder.names().isEmpty)
    }

    @Test("A cancelled request is told nothing but that", arguments: Way.allCases, [true, false])
    func cancelledRequest(way: Way, hasDeadline: Bool) async throws {
        let log = Log()
        let service = try service(way, log)
        var request = ServiceRequest(.get, "/a")
        if hasDeadline { request.totalTimeout = .patient }
        let task = Task { [request] in try await service.request(request) }
        try await log.contains("asked")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// The bytes of another one, with errors of its own.
    private struct WrappedCursor: ByteCursor {
        var pieces: HTTPBytes.Iterator
        let log: Log

        mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
            do { return try await pieces.next(isolation: isolation) } catch {
                log.add("ended")
                throw Wrapped(error: error)
            }
        }
    }

    @Test("A pause isn't a failure either where the body is another's")
    func wrappedBody() async throws {
        let (gate, log, control) = (Signal(), Log(), PauseControl())
        let place = try Downloading { $0.holds = (after: 2_500, gate) }
        let interceptor = ClosureInterceptor { request, next in
            var response = try await next(request)
            if let stream = response.stream {
                response.stream = HTTPBytes { WrappedCursor(pieces: stream.makeAsyncIterator(), log: log) }
            }
            return response
        }
        let provider = DownloadProvider(try HTTPService(place.server, interceptors: [interceptor]), files: place.files)
        let task = Task { [download = place.download()] in
            try await control.bind { try await provider.request(download) }
        }
        try await place.server.log.contains("2500")
        control.pause()
        try await log.contains("ended")
        gate.open()
        control.resume()
        _ = try await task.value
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=2500-"])
    }
}
