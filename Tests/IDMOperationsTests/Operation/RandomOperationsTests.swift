import Foundation
import IDMCore
import IDMOperations
import IDMTesting
import Synchronization
import TestSupport
import Testing

/// A thousand operations with random dependencies, failures, cancels and pauses. What each of them tells is held
/// against what a small model says it may tell.
@Suite("Random operations", .timeLimit(.ample))
struct RandomOperationsTests {
    /// What one operation is, and what it waits for.
    private struct Plan {
        var fails: Bool
        var isCancelled: Bool
        var isPaused: Bool
        /// Whether its provider pauses it, and somebody else lets it go on.
        var pausesItself: Bool
        var waitsFor: [Int]
        var requires: [Int]
        /// Which of those that it waits for gives it its input.
        var reads: Int?
    }

    private func plans(_ count: Int, _ random: inout SplitMix) -> [Plan] {
        (0..<count).map { index in
            func some(_ most: Int) -> [Int] {
                index == 0
                    ? []
                    : (0..<Int.random(in: 0...most, using: &random)).map { _ in
                        Int.random(in: max(0, index - 50)..<index, using: &random)
                    }
            }
            let waitsFor = some(3)
            return Plan(
                fails: Int.random(in: 0..<20, using: &random) == 0,
                isCancelled: Int.random(in: 0..<20, using: &random) == 0,
                isPaused: Int.random(in: 0..<10, using: &random) == 0,
                pausesItself: Int.random(in: 0..<8, using: &random) == 0,
                waitsFor: waitsFor, requires: Int.random(in: 0..<4, using: &random) == 0 ? some(1) : [],
                reads: Int.random(in: 0..<3, using: &random) == 0 ? waitsFor.first : nil)
        }
    }

    @Test(arguments: 1...5) func `each tells its part in order, after those that it waits for`(seed: Int) async throws {
        var random = SplitMix(seed: UInt64(seed))
        let plans = plans(1_000, &random)
        let log = Log()
        let (pauses, paused) = AsyncStream.makeStream(of: Int.self)
        let all = Mutex<[DataProviderOperation<Int, Int>]>([])
        let operations = plans.enumerated().map { index, plan in
            let provider = ClosureDataProvider<Int, Int> { _ in
                if plan.pausesItself {
                    all.withLock { $0[index] }.pause()
                    log.add("\(index) paused")
                    paused.yield(index)
                }
                if plan.fails { throw Offline() }
                return index
            }
            return DataProviderOperation(provider, index)
                .onBeginning { log.add("\(index) began") }
                .onSuccess { _ in log.add("\(index) value") }
                .onError { _ in log.add("\(index) error") }
                .onCancel { _ in log.add("\(index) cancelled") }
                .onCompletion { log.add("\(index) completed") }
        }
        for (index, plan) in plans.enumerated() {
            for other in plan.waitsFor { operations[index].addDependency(operations[other]) }
            for other in plan.requires { operations[index].require(operations[other]) }
            if let other = plan.reads { operations[index].input(from: operations[other]) { $0 } }
            if plan.isPaused { operations[index].pause() }
        }
        all.withLock { $0 = operations }
        let resuming = Task {
            for await index in pauses {
                log.add("\(index) resumed")
                operations[index].resume()
            }
        }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        let endings = operations.map { $0.ending() }
        for index in operations.indices.shuffled(using: &random) { queue.addOperation(operations[index]) }
        // Both while the others run.
        let chaos = operations.indices.shuffled(using: &random)
        for index in chaos where plans[index].isCancelled { operations[index].cancel() }
        for index in chaos where plans[index].isPaused { operations[index].resume() }
        // Paused and resumed from outside as well, wherever they are by then.
        for index in chaos.prefix(200) where !plans[index].pausesItself {
            operations[index].pause()
            operations[index].resume()
        }
        for ending in endings { try await ending.wait() }
        paused.finish()
        await resuming.value
        #expect(log.entries.count { $0.hasSuffix(" paused") } > 30)

        check(plans, operations, log.entries)
    }

    private func check(_ plans: [Plan], _ operations: [DataProviderOperation<Int, Int>], _ lines: [String]) {
        var told = Array(repeating: [String](), count: plans.count)
        var isPaused = Array(repeating: false, count: plans.count)
        var firstLine: [Int: Int] = [:]
        var lastLine: [Int: Int] = [:]
        for (place, line) in lines.enumerated() {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let index = Int(parts[0]) else { continue }
            let word = String(parts[1])
            if word == "paused" || word == "resumed" {
                isPaused[index] = word == "paused"
                continue
            }
            // A cancel waits for nobody.
            if isPaused[index] { #expect(word == "cancelled" || told[index].last == "cancelled", "\(line)") }
            told[index].append(word)
            firstLine[index] = firstLine[index] ?? place
            lastLine[index] = place
        }
        for (index, plan) in plans.enumerated() {
            let outcome = operations[index].outcome
            let failed = Set((plan.waitsFor + plan.requires).filter { operations[$0].outcome?.value == nil })
            switch outcome {
            case .success:
                #expect(told[index] == ["began", "value", "completed"])
                #expect(!plan.fails)
                #expect(plan.requires.allSatisfy { !failed.contains($0) })
                if let other = plan.reads { #expect(!failed.contains(other)) }
            case .failure(is Offline):
                #expect(told[index] == ["began", "error", "completed"])
                #expect(plan.fails)
            case .failure:
                // Its input has not come.
                #expect(told[index] == ["began", "error", "completed"])
                if let other = plan.reads { #expect(failed.contains(other)) }
            case .cancelled:
                #expect(told[index] == ["cancelled"] || told[index] == ["began", "cancelled", "completed"])
                #expect(plan.isCancelled || plan.requires.contains { failed.contains($0) })
            case nil:
                Issue.record("The operation \(index) has not ended.")
            }
            // One that was cancelled before its start waits for nobody.
            guard told[index].first == "began", let first = firstLine[index] else { continue }
            for other in plan.waitsFor + plan.requires where !operations[other].isCancelled {
                #expect((lastLine[other] ?? .max) < first, "\(index) after \(other)")
            }
        }
    }
}
