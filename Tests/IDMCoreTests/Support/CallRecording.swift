import IDMCore
import IDMTesting
import TestSupport

extension IntegrationCall {
    /// Writes down what each kind of handler hears, on the actor on which this is called.
    consuming func recorded(
        in log: Log, as name: String? = nil, isolation: isolated (any Actor)? = #isolation
    ) -> IntegrationCall {
        let name = name.map { "\($0): " } ?? ""
        return
            self
            .onBeginning { log.add("\(name)begin") }
            .onProgress { log.add("\(name)progress \($0.fraction)") }
            .onRetry { log.add("\(name)retry \($0) after \($1)") }
            .onSuccess { log.add("\(name)success \($0)") }
            .onError { log.add("\(name)error \($0)") }
            .onCancel { log.add("\(name)cancel \($0)") }
            .onCompletion { log.add("\(name)completion") }
    }
}

extension IntegrationCall {
    /// Opens the signal when the handlers have been let go: nothing of the run can be heard from then on.
    consuming func opening(_ gone: Signal, isolation: isolated (any Actor)? = #isolation) -> IntegrationCall {
        let canary = DeinitObserver { gone.open() }
        return onCompletion { withExtendedLifetime(canary) {} }
    }
}

extension Integrator {
    /// Writes down what each kind of handler hears of every call, on the actor on which this is called.
    func recorded(in log: Log, as name: String, isolation: isolated (any Actor)? = #isolation) {
        onBeginning { log.add("\(name): begin") }
            .onProgress { log.add("\(name): progress \($0.fraction)") }
            .onRetry { log.add("\(name): retry \($0) after \($1)") }
            .onSuccess { log.add("\(name): success \($0)") }
            .onError { log.add("\(name): error \($0)") }
            .onCancel { log.add("\(name): cancel \($0)") }
            .onCompletion { log.add("\(name): completion") }
    }
}

extension Log {
    /// The lines that a recording wrote under a name, without the name.
    func entries(of name: String) -> [String] {
        entries.filter { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}
