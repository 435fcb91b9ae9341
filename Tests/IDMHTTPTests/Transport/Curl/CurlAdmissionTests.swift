#if os(Linux)
import TestSupport
import Testing

@testable import IDMHTTP

/// Exchanges with two hosts that come, end and are cancelled, in every order.
private struct AdmissionSystem: Explorable {
    enum Move: Hashable { case enter(Character), leave(UInt), cancel(UInt), multiplex }
    struct Footprint: Hashable {
        let admission: String
        let running: [UInt]
        let waiting: [UInt]
    }

    private var admission = CurlAdmission<Character>(hostLimit: 2, limit: 3)
    private var hosts: [UInt: Character] = [:]
    private var running: Set<UInt> = []
    private var waiting: [UInt] = []
    private var isMultiplexed = false

    var footprint: Footprint {
        // In an order that doesn't depend on hashes.
        let lines = "\(admission)".split(separator: "\"").sorted().joined()
        return Footprint(admission: lines, running: running.sorted(), waiting: waiting)
    }

    var moves: [Move] {
        (hosts.count < 6 ? [.enter("a"), .enter("b")] : []) + running.sorted().map { .leave($0) }
            + waiting.map { .cancel($0) } + (isMultiplexed ? [] : [.multiplex])
    }

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .enter(let host):
            let number = UInt(hosts.count + 1)
            hosts[number] = host
            if admission.enter(number, host) { running.insert(number) } else { waiting.append(number) }
        case .leave(let number):
            running.remove(number)
            try admit(admission.leave(hosts[number] ?? "?"))
        case .cancel(let number):
            waiting.removeAll { $0 == number }
            try admit(admission.cancel(number, hosts[number] ?? "?"))
        case .multiplex:
            isMultiplexed = running.contains { hosts[$0] == "a" }
            try admit(admission.setMultiplexed(true, "a"))
        }
        try check()
    }

    private mutating func admit(_ numbers: [UInt]) throws(Violation) {
        for number in numbers {
            try require(waiting.contains(number), "admitted without waiting")
            let earlier = waiting.prefix { $0 != number }.contains { hosts[$0] == hosts[number] }
            try require(!earlier, "overtaken at its host")
            waiting.removeAll { $0 == number }
            running.insert(number)
        }
    }

    private func check() throws(Violation) {
        func count(_ host: Character) -> Int { running.count { hosts[$0] == host } }
        try require(running.count <= 3, "more than in all")
        try require(count("b") <= 2 && (isMultiplexed || count("a") <= 2), "more than at a host")
        for number in waiting where running.count < 3 {
            let isFull = count(hosts[number] ?? "?") >= 2
            try require(isFull && !(isMultiplexed && hosts[number] == "a"), "waits though there is room")
        }
    }
}

@Suite("The admission of exchanges over libcurl", .timeLimit(.ample))
struct CurlAdmissionTests {
    @Test("the admission keeps both limits and the order, and fills every place")
    func everyOrder() {
        let found = Exploration(of: AdmissionSystem())

        #expect(found.violation == nil && found.states > 500, "\(found.states) states")
    }
}
#endif
