import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// What a manual clock of a scope knows of a service that is asked on the main actor.
extension HTTPServiceTimeTests {
    /// What is waited for, for half a second.
    enum Wait: CaseIterable, Sendable {
        case response, responseWithoutDeadline, deadline, body, retry, upload, resource, download
    }

    @Test("a time-out reaches a call on the main actor in the same turn", arguments: Wait.allCases)
    @MainActor
    func endsOnMain(wait: Wait) async throws {
        for round in 0..<100 {
            try await TestScope.run {
                let (clock, log) = (ManualClock(), Log())
                let integrator = Integrator(try Asking(wait, clock: clock))
                integrator.prepareCall()
                    .onError { _ in log.add("error") }.onCompletion { log.add("end") }.call()
                await clock.advance(by: .milliseconds(499))
                try #require(log.entries == [], "round \(round)")
                await clock.advance(by: .milliseconds(1))
                try #require(log.entries == ["error", "end"], "round \(round)")
                integrator.cancel()
            }
        }
    }

    @Test("work of a call from the main actor runs on no actor")
    @MainActor
    func worksElsewhere() async throws {
        let log = Log()
        let transport = ScriptedTransport { _ in
            log.add("transport \(Self.place)")
            return .text("")
        }
        let service = try HTTPService(transport, interceptors: [Noting(log: log)])
        _ = try await service.request(ServiceRequest(.get, "/a"))
        #expect(log.entries == ["interceptor elsewhere", "transport elsewhere"])
        #expect(MainQueue.isCurrent)
    }

    nonisolated private static var place: String { MainQueue.isCurrent ? "on main" : "elsewhere" }

    private struct Noting: HTTPInterceptor {
        let log: Log

        func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
            log.add("interceptor \(HTTPServiceTimeTests.place)")
            return try await next(request)
        }
    }

    private struct Number: DecodableResource {
        typealias Value = Int

        var request: ServiceRequest { ServiceRequest(.get, "/a") }
    }

    /// Asks a service, and reads what it answers, on the caller's actor.
    private struct Asking: DataProvider {
        private let wait: Wait
        private let service: HTTPService
        private let place: Downloading

        init(_ wait: Wait, clock: ManualClock) throws {
            let place = try Downloading { $0.holds = (after: 3_500, Signal()) }
            let transport = ScriptedTransport { request in
                switch wait {
                case .download: return try await place.server.send(request)
                case .body: return TransportResponse(status: 200, body: HeldBody().bytes)
                case .retry: throw TransportFault(.lost)
                case .resource:
                    try await clock.sleep(for: .milliseconds(500))
                    return .text("no number")
                case .response, .responseWithoutDeadline, .deadline, .upload:
                    try await Signal().wait()
                    return .text("")
                }
            }
            let retry = RetryInterceptor(1, delay: .constant(.milliseconds(500)), clock: clock)
            var service = try HTTPService(transport, interceptors: wait == .retry ? [retry] : [], clock: clock)
            service.configuration.idleTimeout =
                [.deadline, .resource].contains(wait) ? .seconds(9) : .milliseconds(500)
            if wait == .deadline { service.configuration.totalTimeout = .milliseconds(500) }
            if wait == .response { service.configuration.totalTimeout = .seconds(9) }
            (self.wait, self.service, self.place) = (wait, service, place)
        }

        func request(_ input: Void) async throws -> Int {
            if wait == .download { return Int(try await DownloadProvider(service).request(place.download()).size) }
            if wait == .resource { return try await service.fetch(Number()) }
            if wait == .upload { return try await UploadProvider(service).request(ServiceRequest(.post, "/a")).status }
            var count = 0
            for try await piece in try await service.open(ServiceRequest(.get, "/a")).bytes { count += piece.count }
            return count
        }
    }
}
