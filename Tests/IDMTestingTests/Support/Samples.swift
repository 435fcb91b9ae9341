import IDMCore
import IDMTesting

/// The errors of providers in these tests.
enum Trouble: Error, Hashable {
    case first, second
}

/// Answers with its input, without suspending.
struct Echo<Value: Sendable>: DataProvider {
    func request(_ input: Value) async throws -> Value { input }
}
