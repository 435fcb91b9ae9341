import TestSupport
import Testing

@testable import IDMCore

/// Long chains as users write them. They test that the type checker resolves them.
@Suite(.timeLimit(.ample))
struct OperatorsTests {
    let d = Doubler()

    @Test(arguments: [true, false])
    func `sequences work with groups, the ternary operator, ?? and as`(flag: Bool) async throws {
        let chain = ClosureDataProvider { (number: Int) in (number, number + 1) } >>>> d >><< d >>>> { $0.0 + $0.1 }
        let none: SequenceDataProvider<Doubler, Doubler>? = nil
        let chosen = flag ? d >>>> d : Doubler() >>>> Doubler()
        let present = none ?? d >>>> d
        let erased = d >>>> d as any DataProvider<Int, Int>

        let answers = [
            try await chain.request(1), try await chosen.request(1), try await present.request(1),
            try await erased.request(1),
        ]

        #expect(answers == [6, 4, 4, 4])
    }

    @Test func `a chain of twenty providers compiles`() async throws {
        let chain =
            d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d
            >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d

        #expect(try await chain.request(1) == 1 << 20)
    }

    @Test func `four closures without types, and eight with, compile inline`() async throws {
        let four = d >>>> { $0 + 1 } >>>> { $0 * 2 } >>>> { "\($0)" } >>>> { $0.count }
        let eight =
            d
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in value + 1 }
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in value + 1 }
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in value + 1 }
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in "\(value)" }

        #expect(try await (four.request(50), eight.request(1)) == (3, "9"))
    }

    @Test func `a mix of groups, models, closures, opaque and erased providers compiles`() async throws {
        func opaque() -> some DataProvider<Int, Int> { Doubler() }
        let split = ClosureDataProvider { (number: Int) in (number, number, number) }
        let chain =
            split >>>> opaque() >><< (d >>>> Text.self) >><< AnyDataProvider(d).map { $0 + 1 }
            >>>> { "\($0.0) \($0.1.value) \($0.2)" }

        #expect(try await chain.request(2) == "4 4 5")
    }

    @Test func `groups stay flat up to eight, by the operator and by combined(with:)`() async throws {
        let eight = d >><< d >><< d >><< d >><< d >><< d >><< d >><< d
        let spelled = d.combined(with: d).combined(with: d).combined(with: d).combined(with: d).combined(with: d)
            .combined(with: d).combined(with: d)
        typealias Eight = (Int, Int, Int, Int, Int, Int, Int, Int)
        let answer: Eight = try await eight.request((1, 2, 3, 4, 5, 6, 7, 8))
        let spelledAnswer: Eight = try await spelled.request((1, 2, 3, 4, 5, 6, 7, 8))
        let nine = try await GroupDataProvider(d, d, d, d, d, d, d, d, d).request((1, 2, 3, 4, 5, 6, 7, 8, 9))

        #expect([answer.0, answer.7, spelledAnswer.0, spelledAnswer.7, nine.8] == [2, 16, 2, 16, 18])
    }
}
