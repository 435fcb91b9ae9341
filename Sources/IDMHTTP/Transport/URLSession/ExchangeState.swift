internal import Foundation

/// Where one exchange stands: nothing is sent yet, the header of its response is awaited, its body flows, or nobody wants it
/// any more. A value, as ``BodyFlow`` is one.
struct ExchangeState<Head: Sendable, Sender, Reader> {
    /// What is to be done.
    enum Action {
        case none
        /// The transfer is to begin.
        case start
        /// Whoever sent the request gets the head of the response.
        case answer(Sender, Head)
        /// Whoever sent the request is told why there is no response.
        case refuse(Sender, any Error, stops: Bool)
        /// Something about the body.
        case body(BodyFlow<Reader>.Action)
    }

    private enum Phase {
        case idle
        case awaiting(Sender)
        case flowing(BodyFlow<Reader>)
        case over(any Error)
    }

    private let sizes: BodyFlow<Reader>.Sizes
    private var phase = Phase.idle

    init(_ sizes: BodyFlow<Reader>.Sizes) {
        self.sizes = sizes
    }

    /// How many bytes of the body have come. Nil before its header has.
    var received: Int? { if case .flowing(let flow) = phase { flow.received } else { nil } }

    /// How many bytes of the body are kept in memory.
    var memoryLength: Int { if case .flowing(let flow) = phase { flow.memoryLength } else { 0 } }

    /// The request is to be sent.
    mutating func begin(_ sender: Sender) -> Action {
        switch phase {
        case .idle:
            phase = .awaiting(sender)
            return .start
        // A transfer that never begins is one that the session would keep.
        case .over(let error): return .refuse(sender, error, stops: true)
        case .awaiting, .flowing: return .refuse(sender, CancellationError(), stops: false)
        }
    }

    /// The head of the response has come.
    mutating func receive(_ head: Head) -> Action {
        guard case .awaiting(let sender) = phase else { return .none }
        phase = .flowing(BodyFlow(sizes))
        return .answer(sender, head)
    }

    /// The exchange fails before there is a response.
    mutating func refuse(_ error: any Error, stops: Bool) -> Action {
        guard case .awaiting(let sender) = phase else { return .none }
        phase = .over(error)
        return .refuse(sender, error, stops: stops)
    }

    /// A piece of the body has come.
    mutating func receive(_ piece: Data) -> Action {
        flow { $0.receive(piece) }
    }

    /// A piece has been put aside, or can't be.
    mutating func spilled(_ result: Result<Int, any Error>) -> Action {
        flow { $0.spilled(result) }
    }

    /// What was put aside has been fetched, or can't be.
    mutating func fetched(_ result: Result<Data, any Error>) -> Action {
        flow { $0.fetched(result) }
    }

    /// Somebody wants a piece.
    mutating func ask(_ reader: Reader) -> Action {
        if case .flowing = phase { return flow { $0.ask(reader) } }
        if case .over(let error) = phase { return .body(.finish(reader, error, stops: false)) }
        return .body(.finish(reader, CancellationError(), stops: false))
    }

    /// The transfer has ended. With a cause if it broke off.
    mutating func complete(_ error: (any Error)?) -> Action {
        if case .awaiting = phase { return refuse(error ?? TransportFault(.malformed), stops: false) }
        return flow { $0.complete(error) }
    }

    /// Nobody wants anything any more.
    mutating func abandon() -> Action {
        switch phase {
        case .idle:
            phase = .over(CancellationError())
            return .none
        case .awaiting: return refuse(CancellationError(), stops: true)
        case .flowing:
            let action = flow { $0.abandon() }
            phase = .over(CancellationError())
            return action
        case .over: return .none
        }
    }

    private mutating func flow(_ event: (inout BodyFlow<Reader>) -> BodyFlow<Reader>.Action) -> Action {
        guard case .flowing(var flow) = phase else { return .none }
        // Held by nobody else, or each event would copy what is in memory.
        phase = .idle
        defer { phase = .flowing(flow) }
        return .body(event(&flow))
    }
}

extension ExchangeState.Action: Sendable where Sender: Sendable, Reader: Sendable {}
