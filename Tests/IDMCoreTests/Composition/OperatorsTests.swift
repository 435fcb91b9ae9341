import TestSupport
import Testing

@testable import IDMCore

/// Long chains as users write them. That this file compiles in no time is what it tests.
@Suite("The operators", .timeLimit(.ample))
struct OperatorsTests {
    let d = Doubler()

    @Test("Groups bind tighter than sequences")
    func precedence() async throws {
        let chain = ClosureDataProvider { (number: Int) in (number, number + 1) } >>>> d >><< d >>>> { $0.0 + $0.1 }
        #expect(try await chain.request(1) == 6)
    }

    @Test("Sequences associate to the left")
    func associativity() {
        let chain = d >>>> d >>>> d
        #expect(type(of: chain) == SequenceDataProvider<SequenceDataProvider<Doubler, Doubler>, Doubler>.self)
    }

    @Test("Sequences work with the ternary operator, with ?? and with as", arguments: [true, false])
    func otherOperators(flag: Bool) async throws {
        let chosen = flag ? d >>>> d : Doubler() >>>> Doubler()
        #expect(try await chosen.request(1) == 4)
        let none: SequenceDataProvider<Doubler, Doubler>? = nil
        let present = none ?? d >>>> d
        #expect(try await present.request(1) == 4)
        let erased = d >>>> d as any DataProvider<Int, Int>
        #expect(try await erased.request(1) == 4)
    }

    @Test("A chain of twenty providers compiles, and runs")
    func twenty() async throws {
        let chain =
            d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d
            >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d >>>> d
        #expect(try await chain.request(1) == 1 << 20)
    }

    @Test("Four closures without types compile inline")
    func fourClosures() async throws {
        let chain = d >>>> { $0 + 1 } >>>> { $0 * 2 } >>>> { "\($0)" } >>>> { $0.count }
        #expect(try await chain.request(50) == 3)
    }

    @Test("Eight closures with types compile inline")
    func eightClosures() async throws {
        let chain =
            d
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in value + 1 }
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in value + 1 }
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in value + 1 }
            >>>> { (value: Int) in value + 1 } >>>> { (value: Int) in "\(value)" }
        #expect(try await chain.request(1) == "9")
    }

    @Test("A mix of groups, models, closures and methods compiles")
    func mix() async throws {
        let split = ClosureDataProvider { (number: Int) in (number, number, number) }
        let chain = split >>>> d >><< (d >>>> Text.self) >><< d.map { $0 + 1 } >>>> { "\($0.0) \($0.1.value) \($0.2)" }
        #expect(try await chain.request(2) == "4 4 5")
    }

    @Test("Any providers compose: opaque ones, boxed ones and callers of closures")
    func anything() async throws {
        func opaque() -> some DataProvider<Int, Int> { Doubler() }
        let boxed = AnyDataProvider(Doubler())
        #expect(try await (opaque() >>>> boxed >>>> opaque()).request(1) == 8)
        #expect(try await (opaque() >><< boxed).request((1, 2)) == (2, 4))
    }
}
