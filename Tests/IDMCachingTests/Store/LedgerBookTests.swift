import TestSupport
import Testing

@testable import IDMCaching

/// Every order of events on two keys, up to a bound, against a model that forgets nothing.
@Suite("The ledger's book", .timeLimit(.ample))
struct LedgerBookTests {
    private enum Event {
        case begin(Int), answer(Int), claim(Int), end(Int), invalidate(Int), tag, sweep
    }

    /// One request, as seen from outside.
    private struct Request {
        let key: Int
        let number: Int64
        let begun: Int
        var isOpen = true
        var hasAnswered = false
        /// Whether it has landed, or was heard and then refused for what was invalidated: what is older is out of date.
        var isSettled = false
        var isTagged: Bool { number.isMultiple(of: 2) }
        var tags: Set<String> { isTagged ? ["tag"] : [] }
    }

    private struct World {
        var book = LedgerBook<Int, Int64>()
        var requests: [Request] = []
        var time = 0
        var keyInvalidated = [0: -1, 1: -1]
        var tagInvalidated = -1
        var swept = -1

        var events: [Event] {
            var events: [Event] = requests.count < 3 ? [.begin(0), .begin(1)] : []
            for (index, request) in requests.enumerated() where request.isOpen {
                if !request.hasAnswered { events.append(.answer(index)) }
                if request.hasAnswered { events.append(.claim(index)) }
                events.append(.end(index))
            }
            return events + [.invalidate(0), .tag, .sweep]
        }

        mutating func perform(_ event: Event) -> String? {
            time += 1
            switch event {
            case .begin(let key):
                requests.append(Request(key: key, number: book.begin(key), begun: time))
            case .answer(let index): return answer(index)
            case .claim(let index): return claim(index)
            case .end(let index):
                requests[index].isOpen = false
                _ = book.leave(requests[index].key)
            case .invalidate(let key):
                keyInvalidated[key] = time
                book.invalidate(key)
            case .tag:
                tagInvalidated = time
                book.invalidate(tag: "tag")
            case .sweep:
                swept = time
                book.invalidateAll()
            }
            return book.isEmpty == requests.allSatisfy { !$0.isOpen } ? nil : "the book keeps what is over"
        }

        private mutating func answer(_ index: Int) -> String? {
            let request = requests[index]
            requests[index].hasAnswered = true
            let instead = book.answer(request.number, request.key, request.number).instead
            let later = requests.filter { $0.key == request.key && $0.hasAnswered && $0.begun > request.begun }
            if let instead { return later.contains { $0.number == instead } ? nil : "heard what isn't newer" }
            return later.isEmpty ? nil : "an older answer is heard after a newer one"
        }

        private mutating func claim(_ index: Int) -> String? {
            let request = requests[index]
            let others = requests.filter { $0.key == request.key && $0.begun != request.begun }
            let isOutrun = others.contains { $0.isSettled && $0.begun > request.begun }
            let invalidated = max(
                keyInvalidated[request.key] ?? -1, swept, request.isTagged ? tagInvalidated : -1)
            let may = !isOutrun && invalidated < request.begun
            let does = book.claim(request.number, request.key, tags: request.tags)
            guard does == may else { return "a claim is \(does) that should be \(may)" }
            let isNewest = !others.contains { $0.hasAnswered && $0.begun > request.begun }
            let isRevoked = !may && isNewest && book.isRevoked(request.number, request.key, tags: request.tags)
            requests[index].isSettled = does || isRevoked
            return isRevoked == (!may && isNewest) ? nil : "what was heard before may land after it"
        }
    }

    @Test("Explored: nothing lands once something newer has landed or was refused, and everything else does")
    func explored() {
        var walked = 0
        func walk(_ world: World, _ depth: Int, _ trail: [Event]) {
            for event in world.events {
                var next = world
                walked += 1
                if let fault = next.perform(event) {
                    Issue.record("\(fault), after \(trail + [event])")
                    return
                }
                if depth > 1 { walk(next, depth - 1, trail + [event]) }
            }
        }
        walk(World(), Volume.of(7, normally: 6), [])

        #expect(walked > 80_000)
    }

    @Test("A question joins those since the last invalidation and the last refresh, and no older ones")
    func epochs() {
        var book = LedgerBook<String, Int>()
        book.enter("a")
        book.enter("b")
        var epochs = [book.epoch("a", refreshing: false)]
        epochs.append(book.epoch("a", refreshing: false))
        epochs.append(book.epoch("a", refreshing: true))
        epochs.append(book.epoch("a", refreshing: false))
        epochs.append(book.epoch("a", refreshing: true))
        #expect(epochs[0] == epochs[1] && epochs[1] < epochs[2])
        #expect(epochs[2] == epochs[3] && epochs[3] < epochs[4])

        var others = [book.epoch("b", refreshing: false)]
        book.invalidate("b")
        others.append(book.epoch("b", refreshing: false))
        book.invalidate(tag: "any")
        others.append(book.epoch("b", refreshing: false))
        book.invalidateAll()
        others.append(book.epoch("b", refreshing: false))
        #expect(others[0] == epochs[0])
        #expect(zip(others, others.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("What a store was done with before it was read, it knows better, and nothing else")
    func stored() {
        var book = LedgerBook<String, Int>()
        // What the store has is 0, unless the book knows better.
        func found(_ begun: Int64) -> Int? { book.look("a", since: begun, stored: 0) { _ in [] }.value }
        let (first, second) = (book.begin("a"), book.begin("a"))
        _ = book.answer(first, "a", 1)
        let early = book.now
        #expect(found(early) == 1)
        book.settle(first, "a", hasLanded: true)
        #expect(found(early) == 1 && found(book.now) == 0)
        _ = book.answer(second, "a", 2)
        #expect(found(book.now) == 2)
        // The end of an older write says nothing of the newer one.
        book.settle(first, "a", hasLanded: true)
        #expect(found(book.now) == 2)
        book.settle(second, "a", hasLanded: true)
        #expect(found(book.now) == 0)
    }

    @Test("What the store has refused is no more than what the store has")
    func refused() {
        var book = LedgerBook<String, Int>()
        let early = book.enter("a")
        let number = book.begin("a")
        _ = book.answer(number, "a", 1)
        let before = book.look("a", since: early, stored: 0) { _ in [] }.value
        book.settle(number, "a", hasLanded: false)
        // A look that began before may have found what was there before that: it can be older than what was heard.
        let after = book.look("a", since: early, stored: 0) { _ in [] }.value
        let later = book.look("a", since: book.now, stored: 0) { _ in [] }.value
        #expect(before == 1 && after == nil && later == 0)
        // Who asked before that hears it nevertheless: it was heard.
        #expect(book.newer("a", than: early) == 1 && book.newer("a", than: number) == nil)
    }

    @Test("What an answer would have replaced goes with it, unless something newer is there")
    func newerThanRevoked() {
        for isNewer in [false, true] {
            var book = LedgerBook<String, Int>()
            let (first, second) = (book.begin("a"), book.begin("a"))
            _ = book.answer(first, "a", 1)
            // Written by somebody who has asked nobody.
            let isWritten = isNewer && book.claim(second, "a", tags: [])
            book.invalidate(tag: "tag")
            let isRefused = !book.claim(first, "a", tags: ["tag"])
            #expect(isWritten == isNewer && isRefused)
            #expect(book.isRevoked(first, "a", tags: ["tag"]) == !isNewer)
        }
    }

    @Test("What another process has written later is what is heard from then on, in the place of what is older")
    func fromElsewhere() {
        var book = LedgerBook<String, Int>()
        let begun = book.enter("a")
        let number = book.begin("a", at: 10)
        let own = book.look("a", since: begun, stored: 5, asked: 5) { _ in [] }
        let newer = book.look("a", since: begun, stored: 12, asked: 12) { _ in [] }
        #expect(own.value == 5 && newer.value == 12 && !newer.isLater && newer.leftover == 5)
        #expect(book.answer(number, "a", 10).instead == 12)
        // Who has found nothing, or less, before that was there, or after it was gone.
        let nothing = book.look("a", since: begun, stored: nil) { _ in [] }
        let less = book.look("a", since: begun, stored: 5, asked: 5) { _ in [] }
        let before = book.look("a", since: begun, stored: 4, asked: 0) { _ in [] }
        #expect(nothing.value == nil && less.value == nil && before.value == nil)
        // Who looks afterwards finds that it is gone again, or that it was and something older has come in its place.
        func found(_ stored: Int?) -> Int? {
            book.look("a", since: book.now, stored: stored, asked: stored.map { Int64($0) } ?? .max) { _ in [] }.value
        }
        let after = [found(nil), found(5)]
        #expect(after == [nil, nil])
        // The rule for writes on their way says nothing of what is there: that is heard until it has been removed.
        book.invalidate("a", at: 20)
        let there = [found(15), found(25)]
        #expect(there == [15, 25])
    }

    @Test("What was kept for late answers is handed out when nobody is late any more")
    func leftovers() {
        var book = LedgerBook<String, String>()
        let (number, later) = (book.begin("a"), book.begin("a"))
        var leftovers = [book.answer(number, "a", "one").leftover, book.answer(later, "a", "two").leftover]
        leftovers += [book.leave("a"), book.leave("a")].map { $0?.value.newest?.value }
        #expect(leftovers == [nil, "one", nil, "two"])
        #expect(book.isEmpty)

        // A sweep forbids what was answered before to land and to be found, and not to be heard by who is late.
        let late = book.begin("a")
        _ = book.answer(book.begin("a"), "a", "three")
        book.invalidateAll()
        let found = book.newest("a") { _ in [] }?.value
        let heard = book.answer(late, "a", "late").instead
        let left = [book.leave("a"), book.leave("a"), book.leave("nobody has entered this")]
        #expect(found == nil && heard == "three")
        #expect(left.map { $0?.value.newest?.value } == [nil, "three", nil])
    }

    @Test("Tags are forgotten once nobody is under way who has begun before, also if somebody always is")
    func tagsUnderLoad() {
        var book = LedgerBook<Int, Int>()
        var most = 0
        _ = book.begin(0)
        for number in 1..<5_000 {
            let begun = book.begin(number)
            book.invalidate(tag: "\(number)")
            let late = book.claim(begun, number, tags: ["\(number)"])
            let free = book.claim(begun, number, tags: ["other"])
            #expect(!late && free)
            _ = book.leave(number - 1)
            most = max(most, book.tagCount)
        }
        #expect(most <= 2 * LedgerBook<Int, Int>.leastTagLimit)
        _ = book.leave(4_999)
        #expect(book.isEmpty)
    }

    @Test("One that never ends doesn't let tags grow without end, and is too late for all of them in the end")
    func tagsOfAStuckOne() {
        var book = LedgerBook<Int, Int>()
        let stuck = book.begin(0)
        let limit = LedgerBook<Int, Int>.greatestTagLimit
        for number in 0..<10 * limit { book.invalidate(tag: "\(number)") }
        let claims = [
            book.claim(stuck, 0, tags: ["\(7)"]), book.claim(stuck, 0, tags: ["never invalidated"]),
            book.claim(stuck, 0, tags: []),
        ]
        let next = book.begin(1)
        let later = book.claim(next, 1, tags: ["\(7)"])
        #expect(claims == [false, false, true] && later)
        #expect(book.tagCount <= 2 * limit)
    }

    @Test("A key that doesn't equal itself leaves nothing behind, and nothing lands for it")
    func notEqualToItself() {
        var book = LedgerBook<Double, Int>()
        for _ in 0..<10 {
            let number = book.begin(.nan)
            _ = book.answer(number, .nan, 1)
            let lands = book.claim(number, .nan, tags: [])
            #expect(!lands && book.isEmpty)
            _ = book.leave(.nan)
        }
        let cache = MemoryCache<Double, Int>(countLimit: 10)
        cache.set(1, for: .nan)
        #expect(cache.get(.nan) == nil && cache.count == 0 && cache.ledger.isEmpty)
    }
}
