import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What becomes of progress, of which nobody knows how many reports are heard.
extension IntegrationRecorderTests {
    @Test("passes over what a model reports, however much of it is heard")
    func model() async throws {
        for _ in 0..<300 { try await Self.expectModel() }
    }

    @Test("passes over what a model reports to the main actor")
    @MainActor
    func modelOnMain() async throws {
        for _ in 0..<300 { try await Self.expectModel() }
    }

    @Test("passes over what the stages of a sequence report, however much of it is heard")
    func stages() async throws {
        for _ in 0..<300 { try await Self.expectStages() }
    }

    @Test("passes over what the stages of a sequence report to the main actor")
    @MainActor
    func stagesOnMain() async throws {
        for _ in 0..<300 { try await Self.expectStages() }
    }

    private static func expectModel() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Doubled>()
            let users = Integrator(StubDataProvider<Int, Int>(1), model: Doubled.self)
            await recorder.call(users.prepareCall(1)).finish()
            try await recorder.expect(.began, .succeeded(Doubled(number: 2)), .completed)
        }
    }

    private static func expectStages() async throws {
        let stages = (0..<3).map { _ in ControlledDataProvider<Int, Int>() }
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            let integrator = Integrator(stages[0] >>>> stages[1] >>>> stages[2])
            let task = recorder.call(integrator.prepareCall(1))
            try await stages[0].nextRequest().answer(2)
            // The last report before the next stage waits for the test, and the last one before the value.
            try await recorder.expect(.began, .progressed(1 / 3))
            try await stages[1].nextRequest().answer(3)
            try await stages[2].nextRequest().answer(4)
            try await recorder.expect(.progressed(1), .succeeded(4), .completed)
            await task.finish()
        }
    }

    @Test("takes a later report for the one that is expected, and asks for none at the end")
    func laterReport() async throws {
        try await Self.reporting([0.25, 0.5, 0.75]) { recorder in
            try await recorder.expect(.began, .progressed(0.5), .succeeded(1), .completed)
        }
        try await Self.reporting([0.25, 0.5]) { recorder in
            try await recorder.expect(.began)
            recorder.verify()
        } leftovers: { failures in
            #expect(failures.map(\.message) == ["Expected nothing more, and succeeded(1), completed came."])
        }
    }

    @Test("fails at a report beyond the one that is expected, and takes no more than was expected")
    func missingReport() async throws {
        try await Self.reporting([0.25, 0.75]) { recorder in
            try await recorder.expect(.began, .progressed(0.5))
        } leftovers: { failures in
            #expect(
                failures.map(\.message) == [
                    "Expected began, progressed(0.5), and began, progressed(0.25), progressed(0.75) came.",
                    "Expected nothing more, and succeeded(1), completed came.",
                ])
        }
    }

    @Test("writes no more than the first and the last of many reports")
    func manyReports() async throws {
        try await Self.reporting((1...6).map { Double($0) / 8 }) { recorder in
            try await recorder.expect(.began, .succeeded(2))
        } leftovers: { failures in
            #expect(
                failures.map(\.message) == [
                    "Expected began, succeeded(2), and began, progressed(0.125), …, progressed(0.75), succeeded(1) came.",
                    "Expected nothing more, and completed came.",
                ])
        }
    }

    /// Records a call whose reports are heard one by one, and which has ended.
    private static func reporting(
        _ fractions: [Double], _ body: (IntegrationRecorder<Int>) async throws -> Void,
        leftovers: ([TestFailure]) -> Void = { #expect($0.isEmpty) }
    ) async throws {
        let failures = try await TestScope.failures {
            let (provider, log) = (ControlledDataProvider<Int, Int>(), Log())
            let (integrator, recorder) = (Integrator(provider), IntegrationRecorder<Int>())
            recorder.hear(integrator)
            // Hears after the recorder.
            let task = integrator.prepareCall(1).onProgress { log.add("\($0.fraction)") }.call()
            let request = try await provider.nextRequest()
            for (index, fraction) in fractions.enumerated() {
                request.reporter?.report(fraction: fraction)
                try await log.count(reaches: index + 1)
            }
            request.answer(1)
            await task.finish()
            try await body(recorder)
        }
        leftovers(failures)
    }

    // MARK: Where it isn't passed over

    /// What fails where a call reports 0.5 to a recorder that doesn't pass over it, and has ended.
    private static func failuresOfReport(
        _ test: (IntegrationRecorder<Int>) async throws -> Void = { _ in },
        before: (IntegrationRecorder<Int>) -> Void = { _ in }
    ) async throws -> [String] {
        try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>(passingOverProgress: false)
            let provider = ControlledDataProvider<Int, Int>()
            let task = recorder.call(Integrator(provider).prepareCall(1))
            let request = try await provider.nextRequest()
            before(recorder)
            try #require(request.reporter).report(fraction: 0.5)
            request.answer(1)
            await task.finish()
            try await test(recorder)
        }
        .map(\.message)
    }

    @Test("takes a report for an event like the others, if it is made so")
    func strict() async throws {
        let met = try await Self.failuresOfReport { recorder in
            try await recorder.expect(.began, .progressed(0.5))
            recorder.expectHeard(.succeeded(1), .completed)
        }
        #expect(met == [])
    }

    @Test("fails for a report before what is expected, if it is made so", arguments: [false, true])
    func strictBetween(waits: Bool) async throws {
        let failures = try await Self.failuresOfReport { recorder in
            if waits {
                try await recorder.expect(.began, .succeeded(1))
            } else {
                recorder.expectHeard(.began, .succeeded(1))
            }
            recorder.expectHeard(.succeeded(1), .completed)
        }
        #expect(failures == ["Expected began, succeeded(1), and began, progressed(0.5) came."])
    }

    @Test("takes a report for one of those that a failed expectation names, if it is made so")
    func strictRest() async throws {
        let failures = try await Self.failuresOfReport { recorder in
            recorder.expectHeard(.failed, .succeeded(1))
            recorder.expectHeard(.succeeded(1), .completed)
        }
        #expect(failures == ["Expected failed, succeeded(1), and began, progressed(0.5) came."])
    }

    @Test("counts a report that a failed expectation named, if it is made so")
    func strictlyNamed() async throws {
        let failures = try await Self.failuresOfReport(before: { $0.expectHeard(.began, .failed, .failed) })
        #expect(
            failures == [
                "Expected began, failed, failed, and began came.", "Expected nothing more, and completed came.",
            ])
    }

    @Test("fails for a report on the way to one that is expected, if it is made so")
    func strictlyOnTheWay() async throws {
        let failures = try await Self.failuresOfReport { recorder in
            recorder.expectHeard(.began, .progressed(0.6))
            recorder.expectHeard(.succeeded(1), .completed)
        }
        #expect(failures == ["Expected began, progressed(0.6), and began, progressed(0.5) came."])
    }

    @Test("fails for a report that is left over, if it is made so")
    func strictLeftover() async throws {
        let failures = try await Self.failuresOfReport { recorder in recorder.expectHeard(.began) }
        #expect(failures == ["Expected nothing more, and progressed(0.5), succeeded(1), completed came."])
    }
}

private struct Doubled: DataModel, Equatable {
    let number: Int

    init(number: Int) { self.number = number }

    init(from source: Int) { number = source * 2 }
}
