import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct IntegrationProgressTests {
    private let log = ProgressLog()

    @Test(arguments: [(-1.0, 0.0), (0.5, 0.5), (2, 1), (.infinity, 1), (-.infinity, 0), (.nan, 0)])
    func `a fraction is clamped to 0...1`(given: Double, expected: Double) {
        #expect(IntegrationProgress(fraction: given).fraction == expected)
    }

    @Test(
        arguments: [(1, 4, 0.25), (1, nil, 0), (1, 0, 0), (1, -4, 0), (0, 0, 1), (0, 4, 0)] as [(Int64, Int64?, Double)]
    )
    func `units make a fraction, and nothing of nothing is complete`(completed: Int64, total: Int64?, expected: Double)
    {
        log.reporter.report(completed: completed, total: total)

        #expect(log.reports == [IntegrationProgress(fraction: expected, completed: completed, total: total)])
    }

    @Test func `a part of a part reports its share of the whole`() {
        let half = log.reporter.part(from: 1, count: 1, of: 2)
        half.report(fraction: 0.5)
        half.part(from: 0, count: 1, of: 2).report(fraction: 1)

        #expect(log.fractions == [0.75, 0.75])
    }

    @Test func `the reporter is ambient in the operation and its tasks only`() async {
        let before = IntegrationProgress.current == nil
        await log.reporter.ambient {
            IntegrationProgress.report(completed: 1, total: 2)
            await Task { IntegrationProgress.report(completed: 2, total: 2) }.value
        }
        IntegrationProgress.report(completed: 1, total: 4)

        #expect(before && log.fractions == [0.5, 1])
    }

    private static let twoStages = ClosureDataProvider { (number: Int) in (number, number) }
    private static let compositions: [(name: String, provider: any DataProvider<Int, Int>, fractions: [Double])] = [
        ("left", ((Doubler() >>>> Doubler()) >>>> Doubler()) >>>> Doubler(), [0.25, 0.5, 0.75, 1]),
        ("right", Doubler() >>>> (Doubler() >>>> (Doubler() >>>> Doubler())), [0.25, 0.5, 0.75, 1]),
        (
            "maps", (Doubler() >>>> Doubler()).map { $0 }.mapError { $0 }.mapInput { $0 } >>>> Doubler() >>>> Doubler(),
            [0.25, 0.5, 0.75, 1]
        ),
        ("each", Doubler().each(limit: 1).mapInput { [$0, 1, 2, 3] }.map { $0[0] }, [0.25, 0.5, 0.75, 1]),
        ("stream in a sequence", Doubler() >>>> Reporting(), [0.5, 0.75, 1]),
        ("attached", (Doubler() >>>> Doubler()).attached(Doubler()), [0.5, 1]),
    ]

    @Test(arguments: compositions.indices)
    func `a composition reports the shares of its parts`(index: Int) async throws {
        let (_, provider, fractions) = Self.compositions[index]

        _ = try await log.reporter.ambient { try await provider.request(1) }

        #expect(log.fractions == fractions)
    }

    @Test @MainActor func `a group reports the mean of its members, also of failed ones`() async throws {
        let collecting = (Failing(Trouble.first) >><< Doubler()).collectingResults()
        _ = try await log.reporter.ambient { try await collecting.request((1, 2)) }
        let sequence = Self.twoStages >>>> Doubler() >><< Doubler()
        _ = try await log.reporter.ambient { try await sequence.request(1) }

        #expect(log.fractions == [0.5, 1, 0.5, 0.75, 1, 1])
    }
}
