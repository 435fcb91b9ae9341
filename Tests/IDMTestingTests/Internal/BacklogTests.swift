import TestSupport
import Testing

@testable import IDMTesting

@Suite("A backlog", .timeLimit(.ample))
struct BacklogTests {
    @Test("A backlog returns each element once, in order")
    func order() {
        var (backlog, next) = (Backlog<Int>(), 0)
        var taken: [Int] = []
        for round in 0..<40 {
            for _ in 0..<round % 7 {
                backlog.append(next)
                next += 1
            }
            for _ in 0..<round % 5 { if let element = backlog.popFirst() { taken.append(element) } }
        }
        while let element = backlog.popFirst() { taken.append(element) }
        #expect(taken == Array(0..<next))
    }

    @Test("A backlog retains no returned element")
    func holding() {
        final class Element {}
        var backlog = Backlog<Element>()
        weak let first = {
            let element = Element()
            backlog.append(element)
            return element
        }()
        backlog.append(Element())
        #expect(first != nil)
        _ = backlog.popFirst()
        #expect(first == nil)
    }
}
