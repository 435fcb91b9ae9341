import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The progress of transfers", .timeLimit(.ample))
struct TransferMeterTests {
    @Test("A rate looks back over its window, and the time left follows from it")
    func rate() throws {
        var meter = TransferMeter(interval: .zero, window: .seconds(5))
        meter.start(at: 1_000, time: .zero)
        #expect(meter.hear(completed: 1_000, total: 11_000, at: .zero)?.bytesPerSecond == nil)
        // A hundred bytes a second for ten seconds, then five hundred.
        var progress: TransferProgress?
        for tick in 1...100 {
            progress = meter.hear(completed: 1_000 + Int64(tick) * 10, total: 11_000, at: .milliseconds(tick * 100))
        }
        var rate = try #require(progress?.bytesPerSecond)
        #expect(abs(rate - 100) < 0.001)
        #expect(progress?.timeLeft == .seconds(90))
        for tick in 1...60 {
            progress = meter.hear(
                completed: 2_000 + Int64(tick) * 50, total: 11_000, at: .milliseconds(10_000 + tick * 100))
        }
        rate = try #require(progress?.bytesPerSecond)
        #expect(abs(rate - 500) < 1)
        #expect(progress?.fraction == 5_000.0 / 11_000)
    }

    @Test("What is there at the start has not come just now")
    func start() {
        var meter = TransferMeter(interval: .zero)
        _ = meter.hear(completed: 10, total: 1_000, at: .zero)
        meter.start(at: 900, time: .seconds(100))
        let progress = meter.hear(completed: 910, total: 1_000, at: .seconds(101))
        #expect(progress?.bytesPerSecond == 10)
    }

    @Test("No more is told than one report an interval, and what was kept back is told at the end")
    func interval() {
        var meter = TransferMeter(interval: .milliseconds(100))
        var told: [Int64] = []
        for tick in 0...1_000 {
            if let progress = meter.hear(completed: Int64(tick), total: 1_000, at: .milliseconds(tick)) {
                told.append(progress.completed)
            }
        }
        #expect(told == [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000])
        #expect(meter.flush() == nil)
        #expect(meter.hear(completed: 1_000, total: 1_000, at: .milliseconds(1_001)) == nil)
        #expect(meter.flush()?.completed == 1_000)
        #expect(meter.flush() == nil)
    }

    @Test("Whatever is counted, nothing goes backwards and no fraction is more than one")
    func monotonic() {
        var random = SplitMix(seed: 7)
        for _ in 0..<200 {
            var meter = TransferMeter(interval: .zero)
            var (completed, fraction) = (Int64(0), 0.0)
            for tick in 0..<50 {
                let total = Bool.random(using: &random) ? Int64.random(in: -5...100, using: &random) : nil
                let count = Int64.random(in: -5...150, using: &random)
                // Also a clock that goes back.
                let time = Duration.milliseconds(Int.random(in: 0...(tick * 100), using: &random))
                guard let progress = meter.hear(completed: count, total: total, at: time) else { continue }
                #expect(progress.completed >= completed && progress.completed >= 0)
                #expect((progress.fraction ?? fraction) >= fraction && (progress.fraction ?? 0) <= 1)
                #expect(progress.total.map { $0 >= progress.completed } ?? true)
                #expect((progress.bytesPerSecond ?? 0) >= 0 && (progress.timeLeft ?? .zero) >= .zero)
                completed = progress.completed
                fraction = progress.fraction ?? fraction
            }
        }
    }

    @Test("Nothing at all is a whole, and an unknown total has no fraction")
    func edges() {
        #expect(TransferProgress(completed: 0, total: 0).fraction == 1)
        #expect(TransferProgress(completed: 7).fraction == nil)
        #expect(TransferProgress(completed: 7, total: 14, bytesPerSecond: 0).timeLeft == nil)
        #expect(TransferProgress(completed: 7, total: 14, bytesPerSecond: .nan).bytesPerSecond == nil)
        #expect(TransferProgress(completed: 0, total: .max, bytesPerSecond: 1e-300).timeLeft != nil)
    }

    @Test("The progress of a group is that of its bytes, or the mean as long as a total is missing")
    func groups() {
        let first = TransferProgress(completed: 50, total: 100, bytesPerSecond: 10)
        let second = TransferProgress(completed: 0, total: 300, bytesPerSecond: 15)
        let sum = TransferProgress.sum(of: [first, second])
        #expect(sum.completed == 50 && sum.total == 400 && sum.fraction == 0.125)
        #expect(sum.bytesPerSecond == 25 && sum.timeLeft == .seconds(14))
        let open = TransferProgress.sum(of: [first, TransferProgress(completed: 9)])
        #expect(open.completed == 59 && open.total == nil && open.fraction == 0.25 && open.timeLeft == nil)
        #expect(TransferProgress.sum(of: [TransferProgress(completed: .max), first]).completed == .max)
        #expect(TransferProgress.sum(of: []).completed == 0)
    }
}
