import Foundation
import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

extension ServiceCookiesTests {
    /// Cookies with one of a user in them.
    private struct UserCookies {
        let all = ServiceCookies()
        let url: URL

        init() throws {
            url = try #require(URL(string: "https://h/v1/a"))
            set("old")
        }

        /// Another user comes.
        func change() {
            all.removeAll()
            set("new")
        }

        private func set(_ user: String) {
            all.take(["Set-Cookie": "user=\(user); Path=/"], from: url, generation: all.header(for: url).generation)
        }
    }

    @Test(
        "redirects and retries don't use the next user's cookies or set any",
        arguments: [302, 503])
    func usersChange(status: Int) async throws {
        let cookies = try UserCookies()
        let (isAsked, goesOn) = (Signal(), Signal())
        let attempts = Atomic(0)
        let transport = ScriptedTransport { _ in
            guard attempts.add(1, ordering: .relaxed).newValue == 1 else {
                return .text("", headers: ["Set-Cookie": "second=1; Path=/"])
            }
            isAsked.open()
            try await goesOn.wait()
            return .text("", status: status, headers: ["Location": "/v1/b", "Set-Cookie": "first=1; Path=/"])
        }
        var service = try HTTPService(transport, interceptors: [RetryInterceptor(1, delay: .none)])
        service.configuration.cookies = cookies.all
        let task = Task { [service] in try await service.request(ServiceRequest(.get, "/a")).status }
        try await isAsked.wait()
        cookies.change()
        goesOn.open()

        #expect(try await task.value == 200)
        #expect(transport.asked.map { $0.headers[.cookie] } == ["user=old", nil])
        #expect(cookies.all.names(for: cookies.url) == ["user"])

        // What is asked for by now is theirs.
        _ = try await service.request(ServiceRequest(.get, "/a"))
        #expect(transport.asked.last?.headers[.cookie] == "user=new")
        #expect(cookies.all.names(for: cookies.url) == ["user", "second"])
    }

    @Test("a queued request doesn't carry the next user's cookies")
    func userChangesBefore() async throws {
        let cookies = try UserCookies()
        let transport = ScriptedTransport(headers: ["Set-Cookie": "first=1; Path=/"])
        let waiting = ClosureInterceptor { request, next in
            cookies.change()
            return try await next(request)
        }
        var service = try HTTPService(transport, interceptors: [waiting])
        service.configuration.cookies = cookies.all

        _ = try await service.request(ServiceRequest(.get, "/a"))
        #expect(transport.asked.map { $0.headers[.cookie] } == [nil])
        #expect(cookies.all.names(for: cookies.url) == ["user"])
    }

    @Test("a refresh carries cookies, also when an earlier call started it")
    func refresh() async throws {
        let cookies = try UserCookies()
        let course = try Course(valid: "b", credential: "a") { _, next in
            _ = try await next(ServiceRequest(.post, "/token"))
            return "b"
        }
        let changing = ClosureInterceptor { request, next in
            cookies.change()
            return try await next(request)
        }
        var service = course.service
        let transport = ScriptedTransport { [base = service.transport] in try await base.send($0) }
        service.transport = transport
        service.interceptors.insert(changing, at: 0)
        service.configuration.cookies = cookies.all

        #expect(try await service.request(ServiceRequest(.get, "/a")).text == "Bearer b")
        #expect(transport.asked.map { $0.headers[.cookie] } == [nil, "user=new", nil])
    }
}
