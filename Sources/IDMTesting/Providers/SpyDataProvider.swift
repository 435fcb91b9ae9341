public import IDMCore

/// A provider that forwards requests to another provider, and records them.
///
/// ```swift
/// let spy = SpyDataProvider(UserDataProvider())
/// _ = try await Integrator(spy).request("apple")
/// #expect(spy.inputs == ["apple"])
/// ```
///
/// The base is asked on the caller's actor, and its values, errors and cancels are forwarded unchanged. A stream stays a
/// stream.
public final class SpyDataProvider<Base: DataProvider>: StreamDataProvider {
    /// The record of one request.
    public struct Observation: Sendable {
        /// The input of the request.
        public let input: Base.Input
        /// The values so far: for a single answer, that one.
        public fileprivate(set) var values: [Base.Output] = []
        /// The last value, or the error. Nil while the request runs, for a stream without a value, and for a stream
        /// that was released before its end.
        public fileprivate(set) var outcome: Result<Base.Output, any Error>?
        /// True if the task of the request was cancelled while the request ran. A cancel between two values of a
        /// stream is seen when the next value is asked for.
        public fileprivate(set) var isCancelled = false
        /// True if the request has ended.
        public fileprivate(set) var isOver = false
    }

    /// An event of a request. Requests are counted from 0.
    public enum Event: Sendable, Hashable {
        /// A request was made.
        case requested(Int)
        /// The request returned a value.
        case answered(Int)
        /// The request threw an error.
        case failed(Int)
        /// The task of a request was cancelled while the request ran, or while the stream was awaited.
        case cancelled(Int)
        /// A stream ended.
        case finished(Int)
        /// A stream was released before its end.
        case abandoned(Int)
    }

    private struct State: Sendable {
        var observations: [Observation] = []
        var events: [Event] = []
        /// Kept beside the records: a wait asks for it after each event.
        private(set) var endedCount = 0

        mutating func end(_ index: Int) {
            if !observations[index].isOver { endedCount += 1 }
            observations[index].isOver = true
        }
    }

    private let base: Base
    private let state = Observed(State())
    private let collector = FailureCollector.current

    /// Makes a spy of a provider.
    public init(_ base: Base) {
        self.base = base
    }

    // MARK: Observing

    /// The records of the requests, in the order in which they were made.
    public var requests: [Observation] { state.value.observations }

    /// The events of all requests, in order.
    public var events: [Event] { state.value.events }

    /// The inputs of the requests, in order.
    public var inputs: [Base.Input] { requests.map(\.input) }

    /// The number of requests that were cancelled while they ran. See ``Observation/isCancelled``.
    public var cancelCount: Int { requests.count(where: \.isCancelled) }

    /// Waits for a number of requests.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequests(
        _ count: Int, within limit: Duration? = nil, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.wait(for: count, in: state, at: place, within: limit, counted: \.observations.count) {
            "Expected \(count.requests), and \($0) came"
        }
    }

    /// Waits until a number of requests have ended.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForEndedRequests(
        _ count: Int, within limit: Duration? = nil, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.wait(for: count, in: state, at: place, within: limit, counted: \.endedCount) {
            "Expected \(count.requests) to end, and \($0) did"
        }
    }

    // MARK: The provider

    /// Forwards a request to the base, and records it.
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

    /// The values of the base, recorded one by one.
    public func values(for input: Base.Input) -> Values {
        Values(spy: self, input: input)
    }

    /// The structure of the base.
    public var structure: ProviderStructure { base.structure }

    /// True if the base delivers many values.
    public var deliversMany: Bool { AnyDataProvider(base).deliversMany }

    /// The values of one recorded request.
    public struct Values: AsyncSequence, Sendable {
        fileprivate let spy: SpyDataProvider
        fileprivate let input: Base.Input

        /// Makes an iterator. The request begins with its first value.
        public func makeAsyncIterator() -> Iterator {
            Iterator(spy: spy, input: input, base: ProviderValues(of: spy.base, for: input).makeAsyncIterator())
        }

        /// Iterates over the values of one request.
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

            /// Returns the next value of the base, or nil after the end.
            public mutating func next() async throws -> Base.Output? {
                try await next(isolation: #isolation)
            }

            /// Returns the next value of the base, or nil after the end.
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
                // Copied and written back: a closure can't change this iterator.
                var base = base
                defer { self.base = base }
                return try await spy.noticingCancel(of: index) { try await base.next(isolation: isolation) }
            }
        }
    }

    /// Records the end of a stream whose iterator is released.
    fileprivate final class Passage: Sendable {
        let index: Int
        private let spy: SpyDataProvider

        init(_ spy: SpyDataProvider, _ input: Base.Input) {
            self.spy = spy
            index = spy.begin(input)
        }

        deinit { spy.finish(index, .abandoned(index)) }
    }

    // MARK: Recording

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
        try await LibraryTask.reactingToCancel {
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
