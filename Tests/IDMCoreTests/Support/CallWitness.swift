import IDMCore
import Synchronization

/// Receives the events of one call and checks each against the grammar.
final class CallWitness: Sendable {
    private enum Place: Sendable {
        case start, begun, cancelledUnstarted, ended, completed
    }

    private struct State: Sendable {
        var place = Place.start
        var end = ""
        var violations: [String] = []
    }

    private let state = Mutex(State())
    private let crowd: Crowd

    init(in crowd: Crowd) {
        self.crowd = crowd
    }

    /// The events that came out of order.
    var violations: [String] { state.withLock { $0.violations } }

    /// The end of the call, once all its events have come.
    var end: String? {
        state.withLock { $0.place == .completed || $0.place == .cancelledUnstarted ? $0.end : nil }
    }

    /// Adds the witness to a call, on the main actor or on none.
    func joining(_ call: IntegrationCall<Int>, onMain: Bool) -> IntegrationCall<Int> {
        guard onMain else {
            return
                call
                .onBeginning { self.begin() }.onProgress { _ in self.go("progress") }
                .onRetry { _, _ in self.go("retry") }
                .onSuccess { self.end("success \($0)") }.onError { _ in self.end("failure") }
                .onCancel { self.cancel("\($0)") }.onCompletion { self.complete() }
        }
        return
            call
            .onBeginning { @MainActor in self.begin() }.onProgress { @MainActor _ in self.go("progress") }
            .onRetry { @MainActor _, _ in self.go("retry") }
            .onSuccess { @MainActor in self.end("success \($0)") }.onError { @MainActor _ in self.end("failure") }
            .onCancel { @MainActor in self.cancel("\($0)") }.onCompletion { @MainActor in self.complete() }
    }

    private func begin() {
        crowd.enter()
        move("begin", from: .start, to: .begun)
    }

    private func go(_ event: String) {
        move(event, from: .begun, to: .begun)
    }

    private func end(_ event: String) {
        state.withLock { $0.end = event }
        move(event, from: .begun, to: .ended)
    }

    private func cancel(_ reason: String) {
        let isStarted = state.withLock { state in
            state.end = reason
            return state.place != .start
        }
        move("cancel", from: isStarted ? .begun : .start, to: isStarted ? .ended : .cancelledUnstarted)
    }

    private func complete() {
        move("completion", from: .ended, to: .completed)
        crowd.leave()
    }

    private func move(_ event: String, from expected: Place, to next: Place) {
        state.withLock { state in
            if state.place != expected { state.violations.append("\(event) when \(state.place)") }
            state.place = next
        }
    }
}

/// Counts calls that run at the same time.
final class Crowd: Sendable {
    private let counts = Mutex((inside: 0, most: 0))

    /// The largest number at one time.
    var most: Int { counts.withLock { $0.most } }
    var inside: Int { counts.withLock { $0.inside } }

    func enter() {
        counts.withLock { counts in
            counts.inside += 1
            counts.most = max(counts.most, counts.inside)
        }
    }

    func leave() {
        counts.withLock { $0.inside -= 1 }
    }
}
