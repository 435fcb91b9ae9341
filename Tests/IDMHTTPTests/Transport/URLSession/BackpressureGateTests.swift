import Dispatch
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A gate between the session and a reader", .timeLimit(.ample))
struct BackpressureGateTests {
    @Test("after a wait in vain no producer waits until half is read")
    func patience() {
        let gate = BackpressureGate(limit: 10, patience: .milliseconds(1))
        var found: [Bool] = []
        func note() { found.append(gate.isPatient) }
        gate.enter(10)
        note()
        // Nothing is read, so the first of these waits in vain, and the others don't wait.
        for _ in 0..<100 { gate.enter(2) }
        note()
        gate.leave(204)
        note()
        gate.leave(1)
        note()
        #expect(found == [true, false, false, true])
    }

    @Test("an empty or ended gate admits any number of bytes")
    func heavy() {
        let gate = BackpressureGate(limit: 10, patience: .never)
        gate.enter(100)
        gate.leave(100)
        gate.enter(3)
        gate.end()
        gate.enter(100)
        gate.enter(100)
        #expect(gate.isPatient)
    }
}
