public import IDMCore

/// A provider that passes requests on to another one, and remembers them.
///
/// ```swift
/// let spy = SpyDataProvider(UserDataProvider())
/// _ = try await Integrator(spy).request("apple")
/// #expect(spy.inputs == ["apple"])
/// ```
///
/// It adds nothing of its own: it asks on the caller's actor, and hands on whatever comes, cancels among it. A stream
/// stays a stream.
public final class SpyDataProvider<Base: DataProvider>: StreamDataProvider {
    /// What was seen of one request.
    public struct Observation: Sendable {
        /// What the request was made with.
        public let input: Base.Input
        /// The values that have come so far: for a single answer, that one.
        public fileprivate(set) var values: [Base.Output] = []
        /// How it ended: with its last value, or the error. Nil while it runs, for a stream without a value, and for
        /// one that was let go before its end.
        public fileprivate(set) var outcome: Result<Base.Output, any Error>?
        /// Whether the task that made it was cancelled while it ran. For a stream: while somebody waited for a value. A
        /// cancel that comes between two values is heard with the next one that is asked for, or not, if none is.
        public fileprivate(set) var isCancelled = false
        /// Whether it has ended.
        public fileprivate(set) var isOver = false
    }

    /// What happened to the requests, in order. Requests are counted from 0.
    public enum Event: Sendable, Hashable {
        /// A request was made.
        case requested(Int)
        /// A value came.
        case answered(Int)
        /// An error came.
        case failed(Int)
        /// The task of a request was cancelled while it ran; of a stream, while it waited for a value.
        case cancelled(Int)
        /// A stream ended.
        case finished(Int)
        /// A stream was let go before its end.
        case abandoned(Int)
    }

    private struct State: Sendable {
        var observations: [Observation] = []
        var events: [Event] = []
        /// Counted as they end: whoever waits for that asks at each event.
        private(set) var endedCount = 0

        mutating func end(_ index: Int) {
            if !observations[index].isOver { endedCount += 1 }
            observations[index].isOver = true
        }
    }

    private let base: Base
    private let state = Watched(State())
    private let ledger = FailureLedger.current

    /// Makes a provider that passes requests on.
    public init(_ base: Base) {
        self.base = base
    }

    // MARK: What was seen

    /// The requests, in the order in which they were made.
    public var requests: [Observation] { state.value.observations }

    /// What happened to them, in order.
    public var events: [Event] { state.value.events }

    /// What the requests were made with, in order.
    public var inputs: [Base.Input] { requests.map(\.input) }

    /// How many requests were cancelled while they ran, as far as ``Observation/isCancelled`` tells.
    public var cancelCount: Int { requests.count(where: \.isCancelled) }

    /// Waits until so many requests have been made. Throws `CancellationError` if the task that waits is cancelled.
    public func requests(
        _ count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.wait(for: count, in: state, at: place, counted: \.observations.count) {
            "Expected \(count.requests), and \($0) came"
        }
    }

    /// Waits until so many requests have ended. Throws `CancellationError` if the task that waits is cancelled.
    public func ended(
        _ count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.wait(for: count, in: state, at: place, counted: \.endedCount) {
            "Expected \(count.requests) to end, and \($0) did"
        }
    }

    // MARK: The provider

    /// Asks the base, and remembers what came.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        let index = begin(input)
        do {
            let value = try await noticingCancel(of: index) { try await base.request(input) }
            answer(index, value, isLast: true)
            return value
        } catch {
            fail(index, error)
            throw error
        }
    }

    /// The values of the base, each of which is remembered when it comes.
    public func values(for input: Base.Input) -> Values {
        Values(spy: self, input: input)
    }

    /// The base: to be watched is no part of a structure.
    public var structure: ProviderStructure { base.structure }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { AnyDataProvider(base).deliversMany }

    /// The values of one request that is watched.
    public struct Values: AsyncSequence, Sendable {
        fileprivate let spy: SpyDataProvider
        fileprivate let input: Base.Input

        /// Starts to listen to the base.
        public func makeAsyncIterator() -> Iterator {
            Iterator(spy: spy, input: input, base: ProviderValues(of: spy.base, for: input).makeAsyncIterator())
        }

        /// Walks through the values of one request.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let spy: SpyDataProvider
            fileprivate let input: Base.Input
            fileprivate var base: ProviderValues<Base.Output>.Iterator
            fileprivate var passage: Passage?

            fileprivate init(spy: SpyDataProvider, input: Base.Input, base: ProviderValues<Base.Output>.Iterator) {
                self.spy = spy
                self.input = input
                self.base = base
            }

            /// The next value of the base, or nil after the last.
            public mutating func next() async throws -> Base.Output? {
                try await next(isolation: #isolation)
            }

            /// The next value of the base, or nil after the last.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Base.Output? {
                let passage = passage ?? Passage(spy, input)
                self.passage = passage
                let index = passage.index
                do {
                    guard let value = try await step(index, isolation: actor) else {
                        spy.finish(index, .finished(index))
                        return nil
                    }
                    spy.answer(index, value, isLast: false)
                    return value
                } catch {
                    spy.fail(index, error)
                    throw error
                }
            }

            private mutating func step(_ index: Int, isolation: isolated (any Actor)?) async throws -> Base.Output? {
                // Taken out and put back: the closure can't change this iterator, only a variable of its own.
                var base = base
                defer { self.base = base }
                return try await spy.noticingCancel(of: index) { try await base.next(isolation: isolation) }
            }
        }
    }

    /// Tells when nobody listens to a stream any more.
    fileprivate final class Passage: Sendable {
        let index: Int
        private let spy: SpyDataProvider

        init(_ spy: SpyDataProvider, _ input: Base.Input) {
            self.spy = spy
            index = spy.begin(input)
        }

        deinit { spy.finish(index, .abandoned(index)) }
    }

    // MARK: What is remembered

    private func begin(_ input: Base.Input) -> Int {
        state.change { state in
            state.observations.append(Observation(input: input))
            state.events.append(.requested(state.observations.count - 1))
            return state.observations.count - 1
        }
    }

    private func answer(_ index: Int, _ value: Base.Output, isLast: Bool) {
        state.change { state in
            state.observations[index].values.append(value)
            if isLast {
                state.observations[index].outcome = .success(value)
                state.end(index)
            }
            state.events.append(.answered(index))
        }
    }

    private func finish(_ index: Int, _ event: Event) {
        state.change { state in
            guard !state.observations[index].isOver else { return }
            state.end(index)
            if case .finished = event {
                state.observations[index].outcome = state.observations[index].values.last.map { .success($0) }
            }
            state.events.append(event)
        }
    }

    private func fail(_ index: Int, _ error: any Error) {
        state.change { state in
            state.observations[index].outcome = .failure(error)
            state.end(index)
            state.events.append(.failed(index))
        }
    }

    private func noticingCancel<R>(of index: Int, _ operation: () async throws -> R) async throws -> R {
        try await LibraryTask.hearingCancel {
            try await operation()
        } onCancel: {
            state.change { state in
                guard !state.observations[index].isCancelled else { return }
                state.observations[index].isCancelled = true
                state.events.append(.cancelled(index))
            }
        }
    }
}
