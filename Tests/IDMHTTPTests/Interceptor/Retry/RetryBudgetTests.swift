import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A retry budget", .timeLimit(.ample))
struct RetryBudgetTests {
    @Test("gives as many retries as it holds, and more for successes")
    func balance() {
        let budget = RetryBudget(capacity: 2, refill: 0.1)

        #expect([budget.take(), budget.take(), budget.take()] == [true, true, false])
        for _ in 0..<9 { budget.succeed() }
        #expect(!budget.take())
        #expect(budget.balance == 0)
        budget.succeed()
        #expect(budget.balance == 1)
        #expect(budget.take() && !budget.take())
        for _ in 0..<1000 { budget.succeed() }
        #expect(budget.balance == 2)
    }

    @Test("may be as large as a number can be")
    func largest() {
        let budget = RetryBudget(capacity: .max)
        #expect(budget.take() && budget.balance == .max)
    }

    @Test("an empty budget allows no retry", arguments: [0, -5])
    func none(capacity: Int) {
        let budget = RetryBudget(capacity: capacity, refill: .nan)
        budget.succeed()
        #expect(!budget.take() && budget.balance == 0)
    }
}
