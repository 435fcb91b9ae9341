import TestSupport
import Testing

@testable import IDMCaching

@Suite("A cached request, without the doing", .timeLimit(.ample))
struct CachedRunTests {
    private struct Refused: Error {}

    enum Cache: String, CaseIterable, Sendable { case fresh, stale, overtaken, nothing }
    enum Remote: String, CaseIterable, Sendable { case answer, error, cancel }

    static let policies: [(String, CachePolicy)] = [
        ("cachedThenRemote", .cachedThenRemote),
        ("cacheElseRemote", .cacheElseRemote(maxAge: .seconds(1))),
        ("staleWhileRevalidate", .staleWhileRevalidate(maxAge: .seconds(1))),
        ("remoteElseCache", .remoteElseCache),
        ("cacheOnly", .cacheOnly),
        ("remoteOnly", .remoteOnly),
        ("refresh", .refresh),
    ]

    /// What is done and heard, in order, when each thing ends before the next begins. In a race both are started, and
    /// the one given first ends first.
    private func timeline(
        _ policy: CachePolicy, _ cache: Cache, _ remote: Remote, race: Bool = false, cacheFirst: Bool = true
    ) -> String {
        var run = CachedRun<String>(policy, mayRace: race)
        var words: [String] = []
        var pending: [Bool] = []
        var looks = 0
        func look() {
            looks += 1
            // Alone, a look finds also what has come during it.
            switch looks == 1 ? cache : cache == .overtaken ? .fresh : cache {
            case .fresh: run.found(.fresh("old"))
            case .stale: run.found(.stale("old"))
            case .overtaken: run.found(.overtaken)
            case .nothing: run.found(.nothing)
            }
        }
        func ask() {
            switch remote {
            case .answer: run.answered("new")
            case .error: run.failed(Refused(), isCancel: false)
            case .cancel: run.failed(CancellationError(), isCancel: true)
            }
        }
        while words.count < 12 {
            switch run.step() {
            case .look:
                words.append("look")
                look()
            case .ask:
                words.append("ask")
                ask()
            case .lookAndAsk:
                words.append("look+ask")
                pending = cacheFirst ? [true, false] : [false, true]
            case .wait:
                guard !pending.isEmpty else { return "waits for nothing" }
                if pending.removeFirst() { look() } else { ask() }
            case .tell(let value, let isCached):
                words.append(value)
                if isCached != (value == "old") { return "mislabelled" }
            case .fail(let error):
                words.append(
                    error is Refused
                        ? "error"
                        : error is CancellationError ? "cancel" : "\(error)".contains("no entry") ? "none" : "?")
            case .end:
                return words.joined(separator: " ")
            }
        }
        return "never ends: \(words)"
    }

    @Test(
        "Each policy does what its article shows",
        arguments: [
            (0, Cache.fresh, Remote.answer, "look old ask new"), (0, .stale, .answer, "look old ask new"),
            (0, .nothing, .answer, "look ask new"), (0, .fresh, .error, "look old ask error"),
            (0, .nothing, .error, "look ask error"), (0, .stale, .cancel, "look old ask cancel"),
            (1, .fresh, .answer, "look old"), (1, .stale, .answer, "look ask new"),
            (1, .nothing, .answer, "look ask new"), (1, .stale, .error, "look ask error"),
            (2, .fresh, .answer, "look old"), (2, .stale, .answer, "look old ask new"),
            (2, .nothing, .answer, "look ask new"), (2, .stale, .error, "look old ask error"),
            (3, .fresh, .answer, "ask new"), (3, .fresh, .error, "ask look old"), (3, .stale, .error, "ask look old"),
            (3, .nothing, .error, "ask look error"), (3, .fresh, .cancel, "ask cancel"),
            (4, .fresh, .answer, "look old"), (4, .stale, .answer, "look old"), (4, .nothing, .answer, "look none"),
            (5, .fresh, .answer, "ask new"), (5, .fresh, .error, "ask error"),
            (6, .fresh, .answer, "ask new"), (6, .fresh, .error, "ask error"),
        ])
    func policies(index: Int, cache: Cache, remote: Remote, expected: String) {
        #expect(timeline(Self.policies[index].1, cache, remote) == expected)
    }

    @Test(
        "In a race the answer alone is heard if it comes first, and an error waits for the entry",
        arguments: [
            (Cache.stale, Remote.answer, true, "look+ask old new"), (.stale, .answer, false, "look+ask new"),
            (.nothing, .answer, true, "look+ask new"), (.fresh, .error, true, "look+ask old error"),
            (.fresh, .error, false, "look+ask old error"), (.nothing, .error, false, "look+ask error"),
            (.nothing, .error, true, "look+ask error"), (.fresh, .cancel, false, "look+ask cancel"),
            (.fresh, .cancel, true, "look+ask old cancel"), (.overtaken, .answer, true, "look+ask new"),
            (.overtaken, .answer, false, "look+ask new"), (.overtaken, .error, true, "look+ask look old error"),
            (.overtaken, .error, false, "look+ask look old error"), (.overtaken, .cancel, true, "look+ask cancel"),
        ])
    func races(cache: Cache, remote: Remote, cacheFirst: Bool, expected: String) {
        #expect(timeline(.cachedThenRemote, cache, remote, race: true, cacheFirst: cacheFirst) == expected)
    }

    @Test("Explored: whatever comes when, an entry is never heard after an answer, and every request ends once")
    func explored() {
        for (name, policy) in Self.policies {
            for race in [false, true] {
                for cacheFirst in [false, true] {
                    for cache in Cache.allCases {
                        for remote in Remote.allCases {
                            let words = timeline(policy, cache, remote, race: race, cacheFirst: cacheFirst)
                                .split(separator: " ")
                            let heard = words.filter { $0 == "old" || $0 == "new" }
                            let ends = words.filter { ["error", "cancel", "none"].contains($0) }
                            #expect([[], ["old"], ["new"], ["old", "new"]].contains(heard), "\(name): \(words)")
                            #expect(ends.count <= 1 && (ends.isEmpty || words.last == ends[0]), "\(name): \(words)")
                            #expect(!heard.isEmpty || !ends.isEmpty, "\(name): \(words)")
                            #expect(!heard.contains("new") || ends.isEmpty, "\(name): \(words)")
                        }
                    }
                }
            }
        }
    }

    @Test("A cancel while an error waits for the entry is the end, and the entry isn't waited for")
    func cancelWhileFailing() {
        var run = CachedRun<String>(.cachedThenRemote, mayRace: true)
        guard case .lookAndAsk = run.step() else { return #expect(Bool(false)) }
        run.failed(Refused(), isCancel: false)
        guard case .wait = run.step() else { return #expect(Bool(false)) }
        run.failed(CancellationError(), isCancel: true)
        guard case .fail(let error) = run.step() else { return #expect(Bool(false)) }
        #expect(error is CancellationError)
        run.found(.fresh("late"))
        guard case .end = run.step() else { return #expect(Bool(false)) }
    }

    @Test("What comes at the wrong time changes nothing")
    func strays() {
        var run = CachedRun<String>(.cachedThenRemote, mayRace: true)
        run.found(.fresh("early"))
        run.answered("early")
        run.failed(Refused(), isCancel: false)
        guard case .lookAndAsk = run.step() else { return #expect(Bool(false)) }
        run.answered("new")
        run.found(.fresh("late"))
        run.failed(Refused(), isCancel: false)
        guard case .tell("new", isCached: false) = run.step() else { return #expect(Bool(false)) }
        run.answered("again")
        guard case .end = run.step() else { return #expect(Bool(false)) }
    }
}
