import Foundation
import IDMOperations
import Synchronization

/// What a thread has come to.
final class Kept<Value: Sendable>: Sendable {
    private let gate = Gate()
    private let state = Mutex<Value?>(nil)

    func keep(_ value: Value?) {
        state.withLock { $0 = value }
        gate.open()
    }

    func value() async -> Value? {
        await gate.opened()
        return state.withLock { $0 }
    }
}

extension Kept {
    /// Keeps the service that a thread of its own gets when it asks.
    func ask(_ services: ServiceRegistry) {
        Thread.detachNewThread { self.keep(try? services.service(Value.self)) }
    }
}
