import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMCore
@testable import IDMHTTP

@Suite("The reports of a transfer", .timeLimit(.ample))
struct TransferReporterTests {
    private final class Listener: ProgressListener {
        let log = Log()
        /// Done with each report, once.
        private let work: Observed<(@Sendable () -> Void)?>

        init(_ work: (@Sendable () -> Void)? = nil) {
            self.work = Observed(work)
        }

        func hear(_ progress: IntegrationProgress) {
            work.change { work in
                defer { work = nil }
                return work
            }?()
            log.add("\(progress.completed ?? -1)")
        }
    }

    private let clock = ManualClock()

    private func reporter(_ listener: Listener) async throws -> TransferReporter {
        try await IntegrationProgress.Reporter(listener).ambient {
            try #require(TransferReporter.current(clock, tellsFalls: false))
        }
    }

    @Test("The last one before a stall is told as soon as it isn't too soon, and no more than one in an interval")
    func stall() async throws {
        let listener = Listener()
        let reporter = try await reporter(listener)
        for count in 1...5 { reporter.report(Int64(count), of: 9) }
        #expect(listener.log.entries == ["1"])
        for count in 6...7 {
            try await clock.waitForSleepers(1)
            await clock.advance(by: .milliseconds(99))
            #expect(listener.log.entries.last == "\(count == 6 ? 1 : 5)")
            await clock.advance(by: .milliseconds(1))
            try await listener.log.contains("\(count - 1)")
            reporter.report(Int64(count), of: 9)
        }
        #expect(listener.log.entries == ["1", "5", "6"])
        await reporter.flush()
        #expect(listener.log.entries == ["1", "5", "6", "7"])
        #expect(clock.remaining.isEmpty)
    }

    @Test("What is reported while another one tells is told by that, in order, and waited for before the end")
    func order() async throws {
        let (isTelling, goesOn) = (Signal(), DispatchSemaphore(value: 0))
        let listener = Listener {
            isTelling.open()
            goesOn.wait()
        }
        let reporter = try await reporter(listener)
        let other = Thread { reporter.report(1, of: 9) }
        other.start()
        try await isTelling.wait()
        reporter.report(9, of: 9)
        let end = Task {
            await reporter.flush()
            return listener.log.entries
        }
        #expect(listener.log.entries.isEmpty)
        goesOn.signal()
        #expect(await end.value == ["1", "9"])
    }
}
