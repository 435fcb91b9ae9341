/// The end of a mailbox's values.
package enum MailboxEnding: Sendable {
    case finished
    case failed(any Error)
}

/// An item for the reader: a value, nil for the end, or an error.
package typealias MailboxItem<Value> = Result<Value?, any Error>

/// Decides what the reader of a ``Mailbox`` gets. The mailbox performs the actions.
struct MailboxStateMachine<Value, Waiter> {
    enum Action {
        case none
        case resume(Waiter, MailboxItem<Value>)
    }

    private enum Phase {
        case open(Queue)
        /// Empty, with a waiting reader.
        case waiting(Waiter)
        /// Ended, with values that have not been read.
        case ended(Queue, MailboxEnding)
        case abandoned
    }

    private var phase = Phase.open(Queue())

    var hasEnded: Bool {
        switch phase {
        case .open, .waiting: false
        case .ended, .abandoned: true
        }
    }

    mutating func send(_ value: Value) -> Action {
        switch phase {
        case .open(var queue):
            phase = .abandoned  // releases the queue, so that it is not copied
            queue.push(value)
            phase = .open(queue)
            return .none
        case .waiting(let waiter):
            phase = .open(Queue())
            return .resume(waiter, .success(value))
        case .ended, .abandoned:
            return .none
        }
    }

    mutating func end(_ ending: MailboxEnding) -> (isFirst: Bool, Action) {
        switch phase {
        case .open(let queue):
            phase = .ended(queue, ending)
            return (true, .none)
        case .waiting(let waiter):
            switch ending {
            case .finished:
                phase = .ended(Queue(), .finished)
                return (true, .resume(waiter, .success(nil)))
            case .failed(let error):
                phase = .ended(Queue(), .finished)
                return (true, .resume(waiter, .failure(error)))
            }
        case .ended, .abandoned:
            return (false, .none)
        }
    }

    /// Discarded items, to be released outside of the lock.
    struct Discarded {
        private(set) var values: [Value] = []
        fileprivate var ending: MailboxEnding?
    }

    /// Discards all items, and ends the reader.
    mutating func abandon() -> (Action, Discarded) {
        defer { phase = .abandoned }
        switch phase {
        case .open(let queue):
            return (.none, Discarded(values: queue.values))
        case .ended(let queue, let ending):
            return (.none, Discarded(values: queue.values, ending: ending))
        case .waiting(let waiter):
            return (.resume(waiter, .failure(CancellationError())), Discarded())
        case .abandoned:
            return (.none, Discarded())
        }
    }

    mutating func poll() -> MailboxItem<Value>? {
        switch phase {
        case .open(var queue):
            guard !queue.isEmpty else { return nil }
            phase = .abandoned
            let value = queue.pop()
            phase = .open(queue)
            return .success(value)
        case .waiting:
            return nil
        case .ended(var queue, let ending):
            phase = .abandoned
            if let value = queue.pop() {
                phase = .ended(queue, ending)
                return .success(value)
            }
            // An error is returned once.
            phase = .ended(Queue(), .finished)
            switch ending {
            case .finished: return .success(nil)
            case .failed(let error): return .failure(error)
            }
        case .abandoned:
            return .failure(CancellationError())
        }
    }

    /// Adds a waiting reader, or resumes it with a present item. A second waiting reader is turned away.
    mutating func wait(_ waiter: Waiter) -> Action {
        if case .waiting = phase { return .resume(waiter, .failure(CancellationError())) }
        if let item = poll() { return .resume(waiter, item) }
        phase = .waiting(waiter)
        return .none
    }

    /// A first-in, first-out queue with constant amortized cost.
    private struct Queue {
        private var incoming: [Value] = []
        private var outgoing: [Value] = []

        var values: [Value] { outgoing.reversed() + incoming }
        var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

        mutating func push(_ value: Value) { incoming.append(value) }

        mutating func pop() -> Value? {
            if outgoing.isEmpty {
                outgoing = incoming.reversed()
                incoming.removeAll()
            }
            return outgoing.popLast()
        }
    }
}
