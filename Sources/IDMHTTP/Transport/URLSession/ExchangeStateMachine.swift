internal import Foundation

/// The state of an exchange: unsent, waiting for the header of its response, receiving its body, or abandoned. A pure
/// state machine, as ``BodyBufferStateMachine`` is.
struct ExchangeStateMachine<Head: Sendable, Sender, Reader> {
    /// The action to perform.
    enum Action {
        case none
        /// The transfer is to begin.
        case start
        /// Gives the head of the response to the sender, after an action of the body.
        case answer(Sender, Head, BodyBufferStateMachine<Reader>.Action)
        /// Throws the error to the sender: there is no response.
        case refuse(Sender, any Error, stops: Bool)
        /// Something about the body.
        case body(BodyBufferStateMachine<Reader>.Action)
    }

    private enum Phase {
        case idle
        case awaiting(Sender)
        /// The head is held back until the body is there, or as much of it as is worth waiting for.
        case gathering(Sender, Head, BodyBufferStateMachine<Reader>)
        case flowing(BodyBufferStateMachine<Reader>)
        case over(any Error)
    }

    private let sizes: BodyBufferStateMachine<Reader>.Sizes
    /// The longest body that is waited for.
    private let gathered: Int
    private var phase = Phase.idle

    init(_ sizes: BodyBufferStateMachine<Reader>.Sizes, gathered: Int) {
        self.sizes = sizes
        self.gathered = gathered
    }

    private var flow: BodyBufferStateMachine<Reader>? {
        switch phase {
        case .flowing(let flow), .gathering(_, _, let flow): flow
        case .idle, .awaiting, .over: nil
        }
    }

    /// True if the request has been sent, or is about to be, and no response has arrived.
    var isAwaiting: Bool { if case .awaiting = phase { true } else { false } }

    /// True if the head of the response is held back.
    var isGathering: Bool { if case .gathering = phase { true } else { false } }

    /// The number of received bytes of the body. Nil before the header.
    var received: Int? { flow?.received }

    /// The number of bytes of the body in memory.
    var memoryLength: Int { flow?.memoryLength ?? 0 }

    /// True if bytes of the body are in files, or being read from them.
    var hasPutAside: Bool { flow?.hasPutAside ?? false }

    /// Begins the exchange.
    mutating func begin(_ sender: Sender) -> Action {
        switch phase {
        case .idle:
            phase = .awaiting(sender)
            return .start
        // A transfer that never begins is one that the session would keep.
        case .over(let error): return .refuse(sender, error, stops: true)
        case .awaiting, .gathering, .flowing: return .refuse(sender, CancellationError(), stops: false)
        }
    }

    /// The head of the response has come.
    ///
    /// - Parameter gathers: Whether the body is to come with it, if it is short.
    mutating func receive(_ head: Head, gathers: Bool = false) -> Action {
        guard case .awaiting(let sender) = phase else { return .none }
        phase =
            gathers ? .gathering(sender, head, BodyBufferStateMachine(sizes)) : .flowing(BodyBufferStateMachine(sizes))
        return gathers ? .none : .answer(sender, head, .none)
    }

    /// The exchange fails before there is a response.
    mutating func refuse(_ error: any Error, stops: Bool) -> Action {
        guard case .awaiting(let sender) = phase else { return .none }
        phase = .over(error)
        return .refuse(sender, error, stops: stops)
    }

    /// A piece of the body has come.
    mutating func receive(_ piece: Data) -> Action {
        guard case .gathering(let sender, let head, var flow) = phase else { return self.flow { $0.receive(piece) } }
        guard flow.received + piece.count <= min(gathered, sizes.window, sizes.limit) else {
            return answer(sender, head, flow) { $0.receive(piece) }
        }
        // Uniquely referenced, or each piece would copy those before it.
        phase = .idle
        _ = flow.receive(piece)
        phase = .gathering(sender, head, flow)
        return .none
    }

    /// The head isn't held back any longer.
    private mutating func answer(
        _ sender: Sender, _ head: Head, _ before: BodyBufferStateMachine<Reader>,
        _ event: (inout BodyBufferStateMachine<Reader>) -> BodyBufferStateMachine<Reader>.Action
    ) -> Action {
        var flow = before
        let action = event(&flow)
        phase = .flowing(flow)
        return .answer(sender, head, action)
    }

    /// A piece has been put aside, or can't be.
    mutating func spilled(_ result: Result<Int, any Error>) -> Action {
        flow { $0.spilled(result) }
    }

    /// Receives bytes that were read from the files, or the error.
    mutating func fetched(_ result: Result<Data, any Error>) -> Action {
        flow { $0.fetched(result) }
    }

    /// Adds the reader of the next piece.
    mutating func ask(_ reader: Reader, least: Int = 1) -> Action {
        if case .flowing = phase { return flow { $0.ask(reader, least: least) } }
        if case .over(let error) = phase { return .body(.finish(reader, error, stops: false)) }
        return .body(.finish(reader, CancellationError(), stops: false))
    }

    /// Delivers the gathered bytes.
    mutating func flush() -> Action {
        flow { $0.flush() }
    }

    /// The transfer has ended. With a cause if it broke off.
    mutating func complete(_ error: (any Error)?) -> Action {
        if case .awaiting = phase { return refuse(error ?? TransportFault(.malformed), stops: false) }
        if case .gathering(let sender, let head, let before) = phase {
            return answer(sender, head, before) { $0.complete(error) }
        }
        return flow { $0.complete(error) }
    }

    /// Abandons the exchange.
    mutating func abandon() -> Action {
        switch phase {
        case .idle:
            phase = .over(CancellationError())
            return .none
        case .awaiting: return refuse(CancellationError(), stops: true)
        case .gathering(let sender, _, _):
            phase = .over(CancellationError())
            return .refuse(sender, CancellationError(), stops: true)
        case .flowing:
            let action = flow { $0.abandon() }
            phase = .over(CancellationError())
            return action
        case .over: return .none
        }
    }

    private mutating func flow(_ event: (inout BodyBufferStateMachine<Reader>) -> BodyBufferStateMachine<Reader>.Action)
        -> Action
    {
        guard case .flowing(var flow) = phase else { return .none }
        // Uniquely referenced, or each event would copy the bytes in memory.
        phase = .idle
        defer { phase = .flowing(flow) }
        return .body(event(&flow))
    }
}

extension ExchangeStateMachine.Action: Sendable where Sender: Sendable, Reader: Sendable {}
