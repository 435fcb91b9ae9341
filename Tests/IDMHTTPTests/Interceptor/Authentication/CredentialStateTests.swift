import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A credential", .timeLimit(.ample))
struct CredentialStateTests {
    /// Requests that go, are rejected, wait and leave, while users come and go and refreshes end, in every order.
    ///
    /// A credential is a number: the user's times a hundred, and one more for each that the user gets.
    private struct Walk: Explorable {
        enum Request: Hashable {
            case new, flying(CredentialStamp, Int), anonymous, waiting(user: Int), done
        }
        enum Move {
            case start(Int), answer(Int), reject(Int), leave(Int)
            case refreshed, refreshFailed, staleRefresh(Int), logIn, logOut, replace
        }
        struct Gone: Error {}

        var state = CredentialState<Int, Int>(100)
        var requests: [Request]
        var running: Int?
        var stale: Set<Int> = []
        var refreshes = 0
        var users = 1
        var changes: Int
        var next = 101

        init(requests: Int, changes: Int) {
            self.requests = Array(repeating: .new, count: requests)
            self.changes = changes
        }

        struct Footprint: Hashable {
            let requests: [Request]
            let running: Int?
            let stale: Set<Int>
            let credential: Int?
            let stamp: CredentialStamp
            let numbers: [Int]
        }

        /// Who waits is seen at the requests.
        var footprint: Footprint {
            Footprint(
                requests: requests, running: running, stale: stale, credential: state.credential, stamp: state.stamp,
                numbers: [changes, refreshes, next, users])
        }

        var moves: [Move] {
            var moves = requests.indices.flatMap { index -> [Move] in
                switch requests[index] {
                case .new: [.start(index)]
                case .flying: [.answer(index), .reject(index)]
                case .anonymous: [.answer(index)]
                case .waiting: [.leave(index)]
                case .done: []
                }
            }
            if running != nil { moves += [.refreshed, .refreshFailed] }
            moves += stale.map { .staleRefresh($0) }
            if changes > 0 { moves += [.logIn, .logOut, .replace] }
            return moves
        }

        mutating func make(_ move: Move) throws(Violation) {
            switch move {
            case .start(let index):
                let user = state.stamp.user
                switch state.admit(index, index) {
                case .anonymous:
                    try require(state.credential == nil, "somebody is logged in")
                    requests[index] = .anonymous
                case .go(let credential, let stamp):
                    try go(index, credential, stamp)
                case .wait:
                    try require(running != nil, "waits for nothing")
                    requests[index] = .waiting(user: user)
                }
            case .answer(let index):
                requests[index] = .done
            case .reject(let index):
                guard case .flying(let stamp, _) = requests[index] else { return }
                try reject(index, stamp)
            case .leave(let index):
                try require(state.leave(index) == index, "wasn't there")
                try require(state.leave(index) == nil, "was there twice")
                requests[index] = .done
            case .refreshed:
                guard let number = running else { return }
                running = nil
                next += 1
                guard let notice = state.end(number, .success(next)) else { throw Violation("wasn't heard") }
                try tell(notice)
                try require(state.credential == next, "isn't there")
            case .refreshFailed:
                guard let number = running else { return }
                running = nil
                let old = state.credential
                guard let notice = state.end(number, .failure(Gone())) else { throw Violation("wasn't heard") }
                try tell(notice)
                try require(state.credential == old, "is lost")
            case .staleRefresh(let number):
                stale.remove(number)
                let old = state.credential
                try require(state.end(number, .success(-1)) == nil, "an old refresh was heard")
                try require(state.credential == old, "an old refresh changed something")
            case .logIn: try change { $0.change(to: $1) }
            case .logOut: try change { state, _ in state.change(to: nil) }
            case .replace where state.credential == nil:
                try require(state.replace(with: -1) == nil && state.credential == nil, "logs in")
            case .replace: try change(isSameUser: true) { $0.replace(with: $1) }
            }
            try checkWaiters()
        }

        private mutating func go(_ index: Int, _ credential: Int, _ stamp: CredentialStamp) throws(Violation) {
            try require(credential == state.credential, "an old credential")
            try require(stamp == state.stamp, "an old stamp")
            try require(credential / 100 == users, "somebody else's credential")
            requests[index] = .flying(stamp, credential)
        }

        private mutating func reject(_ index: Int, _ stamp: CredentialStamp) throws(Violation) {
            switch state.reject(stamp, index, index) {
            case .stop:
                try require(stamp.user != state.stamp.user, "stopped for nothing")
                requests[index] = .done
            case .go(let credential, let new):
                try require(new != stamp, "goes again with what was rejected")
                try go(index, credential, new)
            case .wait:
                try require(running != nil, "waits for nothing")
                requests[index] = .waiting(user: stamp.user)
            case .refresh(let credential, let number):
                try require(running == nil, "two refreshes at once")
                try require(stamp == state.stamp && credential == state.credential, "refreshes for an old credential")
                refreshes += 1
                running = number
                requests[index] = .waiting(user: stamp.user)
            }
        }

        private mutating func tell(_ notice: CredentialState<Int, Int>.Notice) throws(Violation) {
            try require(Set(notice.to).count == notice.to.count, "told twice")
            for index in notice.to {
                guard case .waiting(let user) = requests[index] else {
                    throw Violation("told somebody who didn't wait")
                }
                switch notice.news {
                case .go(let credential, let stamp):
                    try require(user == stamp.user, "given to somebody else")
                    try go(index, credential, stamp)
                case .failed: requests[index] = .done
                case .userHasChanged:
                    try require(user != state.stamp.user, "the user hasn't changed")
                    requests[index] = .done
                }
            }
        }

        private mutating func change(
            isSameUser: Bool = false,
            _ body: (inout CredentialState<Int, Int>, Int) -> CredentialState<Int, Int>.Notice?
        ) throws(Violation) {
            changes -= 1
            if let number = running { stale.insert(number) }
            running = nil
            if isSameUser {
                next += 1
            } else {
                users += 1
                next = users * 100
            }
            guard let notice = body(&state, next) else { throw Violation("nobody is logged in") }
            try tell(notice)
            try require(state.waiters.isEmpty, "left waiting")
        }

        private func checkWaiters() throws(Violation) {
            let waiting = requests.indices.filter { if case .waiting = requests[$0] { true } else { false } }
            try require(state.waiters.sorted() == waiting, "\(state.waiters) wait, and not \(waiting)")
            try require(waiting.isEmpty || running != nil, "somebody waits for nothing")
        }
    }

    @Test("all orders of events refresh once for the right user")
    func explored() {
        // A rejection may follow every refresh, so the walk has to end somewhere: at a number of refreshes.
        let exploration = Exploration(of: Bounded(walk: Walk(requests: 3, changes: Volume.of(2, normally: 1))))

        #expect(exploration.violation == nil)
        #expect(exploration.states > Volume.of(5_000, normally: 1_000), "\(exploration.states) states")
    }

    @Test("long random walks refresh once for the right user")
    func walked() {
        let exploration = Exploration(of: Walk(requests: 8, changes: 20), walks: 300, length: 200)

        #expect(exploration.violation == nil)
        #expect(exploration.moves > 10_000)
    }

    /// A walk in which no refresh begins after the third.
    private struct Bounded: Explorable {
        var walk: Walk

        var footprint: Walk.Footprint { walk.footprint }
        var moves: [Walk.Move] {
            guard walk.refreshes >= 3 else { return walk.moves }
            return walk.moves.filter { if case .reject = $0 { false } else { true } }
        }
        mutating func make(_ move: Walk.Move) throws(Violation) { try walk.make(move) }
    }
}
