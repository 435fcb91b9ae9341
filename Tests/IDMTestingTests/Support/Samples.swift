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

/// What happened, in order.
final class Log: Sendable {
    private let lines = Watched<[String]>([])

    var entries: [String] { lines.value }

    func add(_ line: String) {
        lines.change { $0.append(line) }
    }

    /// Waits until so many lines are there.
    func count(reaches count: Int) async throws {
        try await lines.wait { $0.count >= count }
    }
}

extension TestFailure {
    /// The line that the failure points at, and the message.
    var summary: String { "\(place.line): \(message)" }
}
