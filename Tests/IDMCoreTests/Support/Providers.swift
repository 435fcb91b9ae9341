import IDMTesting
import TestSupport

@testable import IDMCore

/// The errors of these tests' providers.
enum Trouble: Error, Hashable {
    case first, second, numbered(Int)
}

/// Answers at once with its input.
struct Echo<Value: Sendable>: DataProvider {
    func request(_ input: Value) async throws -> Value { input }
}

/// Answers at once with twice the input.
struct Doubler: DataProvider {
    func request(_ input: Int) async throws -> Int { input * 2 }
}

/// Fails at once.
struct Failing<Input: Sendable, Output: Sendable>: DataProvider {
    let error: any Error

    init(_ error: any Error, _ input: Input.Type = Int.self, _ output: Output.Type = Int.self) {
        self.error = error
    }

    func request(_ input: Input) async throws -> Output { throw error }
}

/// Fails at once with its input, if that is negative, and answers with it otherwise.
struct FailsBelowZero: DataProvider {
    func request(_ input: Int) async throws -> Int {
        if input < 0 { throw Trouble.numbered(input) }
        return input
    }
}

/// Fails the given number of times, then answers with the input. Counts its requests.
final class FailingAtFirst: DataProvider {
    private let left: Observed<Int>
    private let asked = Observed(0)
    private let error: any Error

    init(_ times: Int, with error: any Error = Trouble.first) {
        left = Observed(times)
        self.error = error
    }

    var count: Int { asked.value }

    func request(_ input: Int) async throws -> Int {
        asked.change { $0 += 1 }
        let mustFail = left.change { left in
            left -= 1
            return left >= 0
        }
        if mustFail { throw error }
        return input
    }
}

/// A stream of given values, which are available at once, and of an error after them.
struct Listed: StreamDataProvider {
    let list: [Int]
    var error: (any Error)?

    init(_ list: Int..., error: (any Error)? = nil) {
        self.list = list
        self.error = error
    }

    func values(for input: Int) -> Values { Values(list: list.map { $0 + input }, error: error) }

    struct Values: AsyncSequence, AsyncIteratorProtocol {
        var list: [Int]
        var error: (any Error)?

        func makeAsyncIterator() -> Values { self }

        mutating func next() async throws -> Int? { try await next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> Int? {
            if !list.isEmpty { return list.removeFirst() }
            if let error { throw error }
            return nil
        }
    }
}

/// Answers while it is asked, if at all.
struct Immediate: CallbackDataProvider {
    let answers: [Int]

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        for answer in answers { completion(.success(answer)) }
        return nil
    }
}

/// A stream that reports progress when its values are made.
struct Reporting: StreamDataProvider {
    func values(for input: Int) -> AsyncStream<Int> {
        let reporter = IntegrationProgress.current
        return AsyncStream { continuation in
            reporter?.report(fraction: 0.5)
            continuation.yield(input)
            continuation.finish()
        }
    }
}

/// Answers true if it is asked on the main actor.
struct MainActorProbe: DataProvider {
    func request(_ input: Int) async throws -> Bool { #isolation === MainActor.shared }
}

/// A model that can't be made from a number below zero.
struct Text: DataModel, Equatable, CustomStringConvertible {
    let value: String
    var description: String { value }

    init(from source: Int) throws {
        guard source >= 0 else { throw Trouble.second }
        value = "\(source)"
    }
}

/// Collects the values of a stream, and the error at its end.
func collect<P: StreamDataProvider>(_ provider: P, _ input: P.Input) async -> (values: [P.Output], error: (any Error)?)
{
    var values: [P.Output] = []
    do {
        var iterator = provider.values(for: input).makeAsyncIterator()
        while let value = try await iterator.next(isolation: #isolation) { values.append(value) }
        return (values, nil)
    } catch {
        return (values, error)
    }
}

/// True if work that begins on the main actor ends before it suspends for the first time.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor
func endsWithoutSuspension(_ body: @escaping @MainActor @Sendable () async throws -> Void) async throws -> Bool {
    let isDone = Observed(false)
    let task = Task.immediate { @MainActor in
        try await body()
        isDone.change { $0 = true }
    }
    let wasDone = isDone.value
    try await task.value
    return wasDone
}

/// The reason of the ``IntegrationError/cancelled(_:)`` that is thrown; nil if another error or none is thrown.
func thrownReason(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> some Sendable
) async -> CancelReason? {
    do {
        _ = try await body()
        return nil
    } catch IntegrationError.cancelled(let reason) {
        return reason
    } catch {
        return nil
    }
}
