import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// What is heard of one key, in any order of what happens to it, against a store that does each thing in a step of its
/// own, and into which another process writes as well.
@Suite("The ledger's word on a look", .offThePool, .timeLimit(.ample))
struct LedgerLookTests {
    private enum Scope: CaseIterable { case key, tag, everything }
    private enum Event {
        /// A request goes on: it begins, is answered, is written, clears what it has overtaken, and is over.
        case request(Int)
        /// A look goes on: it begins, reads the store, and hears.
        case look(Int)
        /// An invalidation goes on: it is known, and removes.
        case invalidation(Int)
        /// Another process goes on: it asks, and writes what it was answered.
        case stranger(Int)
    }

    private struct Request {
        var step = 0
        var number: Int64 = 0
        var floor: Int64 = 0
        var hasLanded = false
    }

    private struct Look {
        var step = 0
        var begun: Int64 = 0
        /// The newest that anybody had heard when it began.
        var floor: Int64 = 0
        /// The invalidations that were over by then: what they concern it must not hear.
        var ended: [(scope: Scope, number: Int64)] = []
        var stored: Int64?
    }

    private struct World {
        var book = LedgerBook<String, Int64>()
        /// By the questions. What is in the store before is from the past.
        var stored: Int64?
        /// The latest question whose answer was written or cleared here, and the latest of which another process has
        /// one.
        var landed: Int64 = 0, strange: Int64 = 0
        /// Whether the store keeps when its entries were asked for.
        let knowsOrder: Bool
        var time: Int64 = 10
        var requests: [Request]
        var looks: [Look]
        var invalidations: [(scope: Scope, number: Int64, step: Int)]
        var strangers: [(number: Int64, step: Int)]
        var heard: Int64 = 0

        init(stored: Int64?, requests: Int, looks: Int, _ scopes: [Scope], strangers: Int) {
            self.stored = stored
            knowsOrder = strangers > 0
            self.strangers = Array(repeating: (0, 0), count: strangers)
            self.requests = Array(repeating: Request(), count: requests)
            self.looks = Array(repeating: Look(), count: looks)
            invalidations = scopes.map { ($0, 0, 0) }
            heard = stored ?? 0
        }

        // Asked for after each event of each walk: loops, where closures would be slow without optimization.
        var events: [Event] {
            var events: [Event] = []
            for (index, request) in requests.enumerated() where request.step < 5 { events.append(.request(index)) }
            for (index, look) in looks.enumerated() where look.step < 3 { events.append(.look(index)) }
            for (index, one) in invalidations.enumerated() where one.step < 2 { events.append(.invalidation(index)) }
            for (index, stranger) in strangers.enumerated() where stranger.step < 2 { events.append(.stranger(index)) }
            return events
        }

        static func tags(_ number: Int64) -> Set<String> { number.isMultiple(of: 2) ? ["tag"] : [] }

        mutating func perform(_ event: Event) -> String? {
            // Steps of three, so that there are questions with the tag and without it.
            time += 3
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
            case .stranger(let index):
                strangers[index].step += 1
                goOn(stranger: index)
                return nil
            }
        }

        private mutating func goOn(stranger index: Int) {
            if strangers[index].step == 1 {
                strangers[index].number = time
            } else {
                let number = strangers[index].number
                // It has heard of what was removed, and of what was written.
                guard number > max(landed, strange), !isGone(number, by: ended) else { return }
                (stored, strange) = (number, number)
            }
        }

        private mutating func goOn(_ index: Int) -> String? {
            let number = requests[index].number
            let tags = Self.tags(number)
            switch requests[index].step {
            case 1:
                requests[index].floor = heard
                requests[index].number = book.begin("key", at: time)
            case 2:
                let instead = book.answer(number, "key", number).instead
                if instead != nil { requests[index].step = 4 }
                let value = instead ?? number
                heard = max(heard, value)
                return value < requests[index].floor ? "an answer is older than what was heard before" : nil
            case 3:
                requests[index].hasLanded = number > strange && book.claim(number, "key", tags: tags)
                if requests[index].hasLanded { (stored, landed) = (number, number) }
            case 4:
                // Of which the others are told, as of a removal.
                if !requests[index].hasLanded, book.isRevoked(number, "key", tags: tags) {
                    (stored, landed) = (nil, max(landed, number))
                }
            default:
                book.settle(number, "key", hasLanded: requests[index].hasLanded)
                _ = book.leave("key")
            }
            return nil
        }

        private mutating func look(_ index: Int) -> String? {
            switch looks[index].step {
            case 1:
                looks[index].floor = heard
                looks[index].ended = ended
                looks[index].begun = book.enter("key")
            case 2: looks[index].stored = stored
            default:
                let look = looks[index]
                let asked = knowsOrder ? look.stored ?? .max : .max
                let found = book.look("key", since: look.begun, stored: look.stored, asked: asked, tags: Self.tags)
                    .value
                _ = book.leave("key")
                guard let found else {
                    return isDue(look.stored) ? "nothing is found though nothing is invalid" : nil
                }
                heard = max(heard, found)
                if found < look.floor { return "\(found) is heard after \(look.floor)" }
                if isGone(found, by: look.ended) { return "\(found) is heard, which was gone" }
            }
            return nil
        }

        /// Whether what a look has found is the newest that anybody has heard of, and nobody wants it gone.
        private func isDue(_ stored: Int64?) -> Bool {
            guard let stored, invalidations.allSatisfy({ $0.step == 0 }) || knowsOrder else { return false }
            let known = invalidations.filter { $0.step > 0 }.map { ($0.scope, $0.number) }
            return stored >= heard && stored >= strange && !isGone(stored, by: known)
        }

        private var ended: [(scope: Scope, number: Int64)] {
            invalidations.filter { $0.step == 2 }.map { ($0.scope, $0.number) }
        }

        private func isGone(_ number: Int64, by ended: [(scope: Scope, number: Int64)]) -> Bool {
            ended.contains { number < $0.number && ($0.scope != .tag || !Self.tags(number).isEmpty) }
        }

        private mutating func invalidate(_ index: Int) {
            let scope = invalidations[index].scope
            if invalidations[index].step == 1 {
                switch scope {
                case .key: book.invalidate("key", at: time)
                case .tag: book.invalidate(tag: "tag", at: time)
                case .everything: book.invalidateAll(at: time)
                }
                invalidations[index].number = time
            } else if scope != .tag || stored.map({ !Self.tags($0).isEmpty }) == true {
                stored = nil
            }
        }

        var isOver: Bool { events.isEmpty }
    }

    @Test("Explored: nothing older is heard than what was heard before, whatever is invalidated meanwhile")
    func explored() {
        #expect(walk(strangers: 0) > 50_000)
    }

    @Test("Explored: nor whatever another process writes", .enabled(if: Volume.isFull))
    func exploredAmongStrangers() {
        #expect(walk(strangers: 1) > 1_000_000)
    }

    private func walk(strangers: Int) -> Int {
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
        for stored in [nil, 1, 2] as [Int64?] {
            for scope in Scope.allCases {
                walk(World(stored: stored, requests: 1, looks: 1, [scope], strangers: strangers), [])
            }
        }
        return walked
    }

    @Test("and among many requests, looks and invalidations, and what others write", arguments: [0, 1, 2])
    func exploredAtRandom(strangers: Int) {
        var heard = 0
        var random = SplitMix(seed: 1)
        for _ in 0..<Volume.of(200_000, normally: 2_000) {
            // The most that is possible, and as little as every order of which is soon met.
            let many = strangers == 1 ? 1 : 3
            let scopes = (0..<many).map { _ in Scope.allCases.randomElement(using: &random)! }
            let stored = [nil, 1, 2].randomElement(using: &random)! as Int64?
            var world = World(stored: stored, requests: many, looks: many, scopes, strangers: strangers)
            var trail: [Event] = []
            while let event = world.events.randomElement(using: &random) {
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
