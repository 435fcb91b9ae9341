import IDMCore
import IDMTesting
import TestSupport

/// What providers of these tests fail with.
enum Trouble: Error, Hashable {
    case first, second, numbered(Int)
}

/// Answers with its input, without suspending.
struct Echo<Value: Sendable>: DataProvider {
    func request(_ input: Value) async throws -> Value { input }
}

/// Fails, without suspending.
struct Fails<Output: Sendable>: DataProvider {
    var error: any Error = Trouble.first

    func request(_ input: Int) async throws -> Output { throw error }
}

/// Fails with its input, if that is negative, and answers with it otherwise. Without suspending.
struct FailsBelowZero: DataProvider {
    func request(_ input: Int) async throws -> Int {
        if input < 0 { throw Trouble.numbered(input) }
        return input
    }
}

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
        let canary = Canary { gone.open() }
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
