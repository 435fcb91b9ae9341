internal import Dispatch
internal import Foundation
internal import Synchronization

/// The queue on which a session tells what happens, with bounds to what waits there.
///
/// On Linux a session adds a block for each piece of a body, from the thread on which it serves the network, and has no ear
/// for a delegate that is behind: what the disk can't take at once would pile up in memory. To make that thread wait is the
/// one way to let the network wait.
///
/// It waits for a moment, and never for good: what runs on the queue may ask that thread for something and wait for the
/// answer, as a refused challenge does, and then each would wait for the other. Once the moment has passed, nobody waits until
/// the queue has caught up.
final class TellingQueue: OperationQueue, @unchecked Sendable {
    // Unchecked as its superclass is: all that it adds is a constant that may go anywhere.
    private let backlog: Backlog

    /// - Parameters:
    ///   - limit: How many blocks may wait.
    ///   - patience: How long whoever adds one waits at most.
    init(limit: Int = 128, patience: DispatchTimeInterval = .milliseconds(100)) {
        backlog = Backlog(limit: limit, patience: patience)
        super.init()
        beSerial("telling")
    }

    #if canImport(FoundationNetworking)
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        backlog.enter()
        super.addOperation { [backlog] in
            block()
            backlog.leave()
        }
    }
    #endif

    /// Adds work of our own, which never waits.
    func addInner(_ work: @escaping @Sendable () -> Void) {
        addOperations([BlockOperation(block: work)], waitUntilFinished: false)
    }
}

/// How much waits in a queue, and a door in front of it: shut when that is too much, open again when half of it is done.
final class Backlog: Sendable {
    private struct State {
        var count = 0
        var isShut = false
        /// False once somebody has waited for too long, until the door is open again.
        var isPatient = true
    }

    private let limit: Int
    private let patience: DispatchTimeInterval
    private let state = Mutex(State())
    /// Entered as long as the door is shut.
    private let door = DispatchGroup()

    init(limit: Int, patience: DispatchTimeInterval) {
        self.limit = limit
        self.patience = patience
    }

    /// Whether whoever comes waits while the door is shut.
    var isPatient: Bool { state.withLock { $0.isPatient } }

    func enter() {
        let waits = state.withLock { state in
            state.count += 1
            if state.count > limit, !state.isShut {
                state.isShut = true
                door.enter()
            }
            return state.isShut && state.isPatient
        }
        guard waits, door.wait(timeout: .now() + patience) == .timedOut else { return }
        state.withLock { if $0.isShut { $0.isPatient = false } }
    }

    func leave() {
        let opens = state.withLock { state in
            state.count -= 1
            guard state.isShut, state.count <= limit / 2 else { return false }
            state.isShut = false
            state.isPatient = true
            return true
        }
        if opens { door.leave() }
    }
}
