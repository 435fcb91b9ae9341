import TestSupport
import Testing

@testable import IDMCaching

/// What is heard of one key, in any order of what happens to it, against a store that does each thing in a step of its own.
@Suite("The ledger's word on a look", .timeLimit(.ample))
struct LedgerLookTests {
    private enum Scope: CaseIterable { case key, tag, everything }
    private enum Event {
        /// A request goes on: it begins, is answered, is written, clears what it has overtaken, and is over.
        case request(Int)
        /// A look goes on: it begins, reads the store, and hears.
        case look(Int)
        /// An invalidation goes on: it is known, and removes.
        case invalidation(Int)
    }

    private struct Request {
        var step = 0
        var number = 0
        var floor = 0
        var hasLanded = false
        var tags: Set<String> { number.isMultiple(of: 2) ? ["tag"] : [] }
    }

    private struct Look {
        var step = 0
        var begun = 0
        /// The newest that anybody had heard when it began.
        var floor = 0
        /// What it must not hear, as it was gone by then.
        var gone: [Int] = []
        var stored: Int?
    }

    private struct World {
        var book = LedgerBook<String, Int>()
        var stored: Int?
        var requests: [Request]
        var looks: [Look]
        var invalidations: [(scope: Scope, number: Int, step: Int)]
        var heard = 0

        init(stored: Int?, requests: Int, looks: Int, _ scopes: [Scope]) {
            // So that the numbers of what is in the store are those of the past.
            for _ in 0..<4 {
                _ = book.begin("key")
                _ = book.leave("key")
            }
            self.stored = stored
            self.requests = Array(repeating: Request(), count: requests)
            self.looks = Array(repeating: Look(), count: looks)
            invalidations = scopes.map { ($0, 0, 0) }
            heard = stored ?? 0
        }

        var events: [Event] {
            requests.indices.filter { requests[$0].step < 5 }.map(Event.request)
                + looks.indices.filter { looks[$0].step < 3 }.map(Event.look)
                + invalidations.indices.filter { invalidations[$0].step < 2 }.map(Event.invalidation)
        }

        static func tags(_ number: Int) -> Set<String> { number.isMultiple(of: 2) ? ["tag"] : [] }

        mutating func perform(_ event: Event) -> String? {
            switch event {
            case .request(let index):
                requests[index].step += 1
                return goOn(index)
            case .look(let index):
                looks[index].step += 1
                return look(index)
            case .invalidation(let index):
                invalidations[index].step += 1
                invalidate(index)
                return nil
            }
        }

        private mutating func goOn(_ index: Int) -> String? {
            let (number, tags) = (requests[index].number, requests[index].tags)
            switch requests[index].step {
            case 1:
                requests[index].floor = heard
                requests[index].number = book.begin("key")
            case 2:
                let instead = book.answer(number, "key", number).instead
                if instead != nil { requests[index].step = 4 }
                let value = instead ?? number
                heard = max(heard, value)
                return value < requests[index].floor ? "an answer is older than what was heard before" : nil
            case 3:
                requests[index].hasLanded = book.claim(number, "key", tags: tags)
                if requests[index].hasLanded { stored = number }
            case 4:
                if !requests[index].hasLanded, book.isRevoked(number, "key", tags: tags) { stored = nil }
            default:
                book.store(number, "key", hasLanded: requests[index].hasLanded)
                _ = book.leave("key")
            }
            return nil
        }

        private mutating func look(_ index: Int) -> String? {
            switch looks[index].step {
            case 1:
                looks[index].floor = heard
                looks[index].gone = (0...book.now).filter { isGone($0) }
                looks[index].begun = book.enter("key")
            case 2: looks[index].stored = stored
            default:
                let look = looks[index]
                let found = book.look("key", since: look.begun, stored: look.stored, tags: Self.tags)?.value
                _ = book.leave("key")
                guard let found else {
                    let isCalm = invalidations.allSatisfy { $0.step == 0 }
                    return isCalm && look.stored != nil ? "nothing is found though nothing is invalid" : nil
                }
                heard = max(heard, found)
                if found < look.floor { return "\(found) is heard after \(look.floor)" }
                if look.gone.contains(found) { return "\(found) is heard, which was gone" }
            }
            return nil
        }

        private func isGone(_ number: Int) -> Bool {
            invalidations.contains { invalidation in
                invalidation.step == 2 && number < invalidation.number
                    && (invalidation.scope != .tag || !Self.tags(number).isEmpty)
            }
        }

        private mutating func invalidate(_ index: Int) {
            let scope = invalidations[index].scope
            if invalidations[index].step == 1 {
                switch scope {
                case .key: book.invalidate("key")
                case .tag: book.invalidate(tag: "tag")
                case .everything: book.invalidateAll()
                }
                invalidations[index].number = book.now
            } else if scope != .tag || stored.map({ !Self.tags($0).isEmpty }) == true {
                stored = nil
            }
        }

        var isOver: Bool { events.isEmpty }
    }

    @Test("Explored: nothing older is heard than what was heard before, whatever is invalidated meanwhile")
    func explored() {
        var walked = 0
        func walk(_ world: World, _ trail: [Event]) {
            walked += 1
            if world.isOver, !world.book.isEmpty { Issue.record("the book keeps what is over, after \(trail)") }
            for event in world.events {
                var next = world
                if let fault = next.perform(event) {
                    Issue.record("\(fault), after \(trail + [event])")
                    return
                }
                walk(next, trail + [event])
            }
        }
        for stored in [nil, 1, 2] {
            for scope in Scope.allCases { walk(World(stored: stored, requests: 1, looks: 1, [scope]), []) }
        }
        #expect(walked > 50_000)
    }

    @Test("and among many requests, looks and invalidations")
    func exploredAtRandom() {
        var heard = 0
        for _ in 0..<Volume.of(200_000, normally: 5_000) {
            let scopes = (0..<3).map { _ in Scope.allCases.randomElement()! }
            var world = World(stored: [nil, 1, 2].randomElement()!, requests: 3, looks: 3, scopes)
            var trail: [Event] = []
            while let event = world.events.randomElement() {
                trail.append(event)
                guard let fault = world.perform(event) else { continue }
                Issue.record("\(fault), after \(trail)")
                return
            }
            if !world.book.isEmpty { Issue.record("the book keeps what is over, after \(trail)") }
            heard += world.heard > 4 ? 1 : 0
        }
        #expect(heard > 1_000)
    }
}
