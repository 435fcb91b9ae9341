import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Progress", .timeLimit(.ample))
struct IntegrationProgressTests {
    @Test(
        "A fraction is between 0 and 1, whatever it is made with",
        arguments: [(-1.0, 0.0), (0.5, 0.5), (2, 1), (.infinity, 1), (-.infinity, 0), (.nan, 0)])
    func clamp(given: Double, expected: Double) {
        #expect(IntegrationProgress(fraction: given).fraction == expected)
    }

    @Test("A report without a usable total counts as nothing done")
    func totals() {
        let log = ProgressLog()
        log.reporter.report(completed: 1, total: 4)
        log.reporter.report(completed: 1, total: nil)
        log.reporter.report(completed: 1, total: 0)
        log.reporter.report(completed: 1, total: -4)
        #expect(log.fractions == [0.25, 0, 0, 0])
        #expect(log.reports[0] == IntegrationProgress(fraction: 0.25, completed: 1, total: 4))
    }

    @Test("A part reports its share of the whole, also a part of a part")
    func parts() {
        let log = ProgressLog()
        let half = log.reporter.part(from: 1, count: 1, of: 2)
        half.report(fraction: 0.5)
        half.part(from: 0, count: 1, of: 2).report(fraction: 1)
        #expect(log.fractions == [0.75, 0.75])
    }

    @Test("Nobody listens unless somebody does")
    func ambient() async {
        #expect(IntegrationProgress.current == nil)
        let log = ProgressLog()
        await log.reporter.ambient {
            #expect(IntegrationProgress.current != nil)
            IntegrationProgress.report(completed: 1, total: 2)
            await Task { IntegrationProgress.report(completed: 2, total: 2) }.value
        }
        #expect(log.fractions == [0.5, 1])
        #expect(IntegrationProgress.current == nil)
        IntegrationProgress.report(completed: 1, total: 2)
    }

    @Test("A bound reporter keeps the caller's actor")
    @MainActor
    func ambientKeepsActor() async throws {
        let log = ProgressLog()
        #expect(try await log.reporter.ambient { try await MainActorProbe().request(1) })
    }

    @Test("A sequence counts its stages flat, however it is nested")
    func flatShares() async throws {
        let log = ProgressLog()
        let left = ((Doubler() >>>> Doubler()) >>>> Doubler()) >>>> Doubler()
        let right = Doubler() >>>> (Doubler() >>>> (Doubler() >>>> Doubler()))
        _ = try await log.reporter.ambient { try await left.request(1) }
        #expect(log.fractions == [0.25, 0.5, 0.75, 1])
        _ = try await log.reporter.ambient { try await right.request(1) }
        #expect(Array(log.fractions.suffix(4)) == [0.25, 0.5, 0.75, 1])
    }

    @Test("A stage of a sequence reports within its share")
    func stageShare() async throws {
        let log = ProgressLog()
        let provider = ControlledDataProvider<Int, Int>()
        let sequence = Doubler() >>>> provider
        let task = Task { try await log.reporter.ambient { try await sequence.request(1) } }
        let request = try await provider.nextRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(1)
        _ = try await task.value
        #expect(log.fractions == [0.5, 0.75, 1])
    }

    @Test("A map around a sequence keeps the shares of its stages")
    func mapKeepsShares() async throws {
        let log = ProgressLog()
        let sequence =
            (Doubler() >>>> Doubler()).map { $0 + 1 }.mapError { $0 }.mapInput { $0 } >>>> Doubler()
            >>>> Doubler()
        #expect(try await log.reporter.ambient { try await sequence.request(1) } == 20)
        #expect(log.fractions == [0.25, 0.5, 0.75, 1])
    }

    @Test("A group reports the mean of its members")
    func groupMean() async throws {
        let log = ProgressLog()
        let first = ControlledDataProvider<Int, Int>()
        let second = ControlledDataProvider<Int, Int>()
        let group = first >><< second
        let task = Task { try await log.reporter.ambient { try await group.request((1, 2)) } }
        let (one, two) = (try await first.nextRequest(), try await second.nextRequest())
        one.reporter?.report(fraction: 0.5)
        two.reporter?.report(fraction: 1)
        one.reporter?.report(fraction: 0.2)
        one.answer(1)
        two.answer(2)
        _ = try await task.value
        #expect(Array(log.fractions.prefix(3)) == [0.25, 0.75, 0.75])
        // The two ends may be told in any order: who hears them goes by the largest, as a call does.
        #expect(log.fractions.max() == 1)
    }

    @Test("The mean of members never goes backwards")
    func means() {
        var means = GroupMeans(count: 2)
        #expect(means.hear(0.5, from: 0) == 0.25)
        #expect(means.hear(0.1, from: 0) == 0.25)
        #expect(means.hear(1, from: 1) == 0.75)
        #expect(means.hear(1, from: 0) == 1)
    }

    @Test("The mean of members that are all done is one, whatever the sum of their parts comes to")
    func meanOfTheDone() {
        var means = GroupMeans(count: 10)
        var mean = 0.0
        for tenths in 1...10 {
            for member in 0..<10 {
                let next = means.hear(Double(tenths) / 10, from: member)
                #expect(next >= mean && next <= 1)
                mean = next
            }
        }
        #expect(mean == 1)
    }

    @Test("A member that fails is done as well where results are collected") @MainActor
    func collectedFailure() async throws {
        let log = ProgressLog()
        let group = (Failing(Trouble.first) >><< Doubler()).collectingResults()
        _ = try await log.reporter.ambient { try await group.request((1, 2)) }
        #expect(log.fractions == [0.5, 1])
    }

    @Test("Many requests of one provider report their mean")
    func eachMean() async throws {
        let log = ProgressLog()
        let provider = Doubler().each(maxConcurrent: 1)
        _ = try await log.reporter.ambient { try await provider.request([1, 2, 3, 4]) }
        #expect(log.fractions == [0.25, 0.5, 0.75, 1])
    }

    @Test("A group as a stage of a sequence reports within its share")
    func groupInSequence() async throws {
        let log = ProgressLog()
        let sequence = ClosureDataProvider { (number: Int) in (number, number) } >>>> Doubler() >><< Doubler()
        _ = try await log.reporter.ambient { try await sequence.request(1) }
        #expect(log.fractions.first == 0.5)
        #expect(log.fractions.contains(0.75))
        #expect(log.fractions.last == 1)
    }

    @Test("The stages of a stream report within their shares")
    func streamShares() async throws {
        let log = ProgressLog()
        let sequence = Listed(1, 2) >>>> Doubler()
        let values = await log.reporter.ambient { await collect(sequence, 0).values }
        #expect(values == [2, 4])
        #expect(log.fractions == [0.5, 1, 0.5, 1])
    }

    @Test("A stream that takes its reporter as its values are asked for has its share of a sequence")
    func streamInASequence() async {
        let log = ProgressLog()
        _ = await log.reporter.ambient { await collect(Doubler() >>>> Reporting(), 1) }
        #expect(log.fractions == [0.5, 0.75, 1])
    }
}
