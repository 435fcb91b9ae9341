import IDMCore
import IDMTesting

/// What providers of these tests fail with.
enum Trouble: Error, Hashable {
    case first, second
}

/// Answers with its input, without suspending.
struct Echo<Value: Sendable>: DataProvider {
    func request(_ input: Value) async throws -> Value { input }
}
