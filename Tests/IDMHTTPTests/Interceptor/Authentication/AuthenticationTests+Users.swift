import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

extension AuthenticationTests {
    @Test("lets a logout during a refresh win")
    func logoutDuringRefresh() async throws {
        let gate = Signal()
        let done = Signal()
        let course = try Course(valid: "b", credential: "a") { _, _ in
            defer { done.open() }
            await gate.waitIgnoringCancel()
            return "b"
        }
        let task = Task { await course.outcome() }
        try await course.replaced.wait { $0.count == 1 }
        course.authentication.logOut()

        #expect(await task.value == AuthenticationError.userHasChanged.description)
        gate.open()
        try await done.wait()
        #expect(course.authentication.credential == nil)
        #expect(await course.outcome("/open") == "")
        #expect(course.sent.value == ["Bearer a", ""])
    }

    @Test("delivers nothing of a user who has logged out", arguments: ["a", "other"])
    func logoutDuringRequest(valid: String) async throws {
        let course = try Course(valid: valid, credential: "a")
        let leaving = ClosureInterceptor { request, next in
            defer { course.authentication.logOut() }
            return try await next(request)
        }
        var service = course.service
        service.interceptors.append(leaving)

        // Whether the server would have taken it or not.
        let error = await #expect(throws: AuthenticationError.self) {
            try await service.request(ServiceRequest(.get, "/a"))
        }
        guard case .userHasChanged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(course.sent.value == ["Bearer a"] && course.replaced.value.isEmpty)
    }

    @Test("requests continue with a new user after login")
    func logIn() async throws {
        let course = try Course(valid: "b", credential: nil)

        #expect(await course.outcome() == "status 401")
        course.authentication.logIn("b")
        #expect(await course.outcome() == "Bearer b")
        #expect(course.sent.value == ["", "Bearer b"] && course.replaced.value.isEmpty)
    }

    @Test(
        "a request is never repeated for a changed user",
        arguments: [
            (["a", "b"], ["Bearer a"]), (["a", nil], ["Bearer a"]), (["a", nil, "a"], ["Bearer a"]),
            ([nil, "b"], ["", "Bearer b"]), ([nil, "b", "c"], ["", "Bearer b"]),
        ] as [([String?], [String])])
    func goesAgain(users: [String?], sent: [String]) async throws {
        let course = try Course(valid: "", credential: users[0])
        let repeating = ClosureInterceptor { request, next in
            var response = try await next(request)
            for user in users.dropFirst() {
                user.map(course.authentication.logIn) ?? course.authentication.logOut()
                response = try await next(request)
            }
            return response
        }
        var service = course.service
        service.interceptors.insert(repeating, at: 0)

        let outcome = await service.outcome(ServiceRequest(.get, "/open"))
        // What nobody has begun belongs to whoever goes on with it first.
        let isRefused = sent.count < users.count
        #expect(outcome == (isRefused ? "\(AuthenticationError.userHasChanged)" : "200 \(sent.last ?? "")"))
        #expect(course.sent.value == sent)
    }

    @Test("no credential is replaced while no user is logged in")
    func replaceAfterLogout() async throws {
        let course = try Course(valid: "b", credential: "a")
        course.authentication.logOut()
        course.authentication.replaceCredential("b")

        #expect(course.authentication.credential == nil)
        #expect(await course.outcome("/open") == "")
    }

    @Test("a shared refresh belongs to no single call")
    func refreshBelongsToNobody() async throws {
        let device = AuthenticationInterceptor(
            HeaderAuthenticator("X-Device"), for: try #require(URL(string: "https://h")), credential: "first")
        let course = try Course(valid: "b", credential: "a") { _, next in
            device.logIn("second")
            _ = try await next(ServiceRequest(.post, "/token"))
            return "b"
        }
        var service = course.service
        service.interceptors.append(device)

        // The call is the first device's, and isn't made again. Those behind it have a credential all the same.
        #expect(await service.outcome() == "\(AuthenticationError.userHasChanged)")
        #expect(course.authentication.credential == "b")
        #expect(await service.outcome() == "200 Bearer b")
        #expect(course.sent.value == ["Bearer a", "", "Bearer b"])
    }
}
