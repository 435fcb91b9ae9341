internal import Foundation

/// The buffer of a body between a network without flow control and a slower reader. A pure state machine: each event
/// returns the action to perform, outside of all locks.
///
/// Unread bytes are kept in memory up to a window, and in files beyond it. Bytes in memory are older than those in
/// files: while any are in files, new ones go there too.
struct BodyBufferStateMachine<Reader> {
    /// The action to perform.
    enum Action {
        case none
        /// Gives pieces to the reader.
        case deliver(Reader, [Data], stops: Bool)
        /// Gives the reader the end, or the error.
        case finish(Reader, (any Error)?, stops: Bool)
        /// Stops the transfer.
        case stop
        /// Calls ``BodyBufferStateMachine/flush()`` in a moment: the reader waits for more bytes together.
        case flushLater
        /// Writes a piece to a file, then calls ``BodyBufferStateMachine/spilled(_:)``.
        case spill(Data)
        /// Reads bytes from the files, then calls ``BodyBufferStateMachine/fetched(_:)``.
        case fetch(Int)
    }

    /// The sizes of the buffer.
    struct Sizes {
        /// The maximum number of bytes in memory.
        var window: Int
        /// The number of bytes that are delivered at once, unless the reader wants more. A longer piece isn't cut.
        var piece: Int
        /// The maximum number of bytes of the body.
        var limit: Int
    }

    private enum Reading {
        case nobody
        /// For so many bytes at least, as long as they come at once.
        case waiting(Reader, least: Int)
        case fetching(Reader)
    }

    private enum End {
        case complete
        case failed(any Error)
    }

    private let sizes: Sizes
    private var memory: [Data] = []
    /// The number of bytes in memory.
    private(set) var memoryLength = 0
    /// The number of bytes in files that aren't being read.
    private var diskLength = 0
    private var isSpilling = false
    private var isToFlush = false
    private var reading = Reading.nobody
    private var end: End?
    /// The number of received bytes.
    private(set) var received = 0

    /// True if bytes are in files, or being read from them.
    var hasPutAside: Bool {
        if case .fetching = reading { true } else { diskLength > 0 || isSpilling }
    }

    init(_ sizes: Sizes) {
        self.sizes = sizes
    }

    /// Receives a piece from the network. Called again only after a piece that is to be written has been.
    mutating func receive(_ piece: Data) -> Action {
        guard end == nil, !piece.isEmpty else { return .none }
        let (sum, isTooMuch) = received.addingReportingOverflow(piece.count)
        guard !isTooMuch, sum <= sizes.limit else { return fail(TransportFault(.bodyTooLarge(limit: sizes.limit))) }
        received = sum
        if diskLength > 0 || isSpilling || memoryLength + piece.count > sizes.window {
            isSpilling = true
            return .spill(piece)
        }
        if case .waiting(let reader, let least) = reading, memory.isEmpty, piece.count >= least {
            reading = .nobody
            return .deliver(reader, [piece], stops: false)
        }
        memoryLength += piece.count
        // Bytes that drip in are put together, or what holds them would be larger than they are.
        if let last = memory.last, last.count + piece.count <= 16 << 10 {
            memory[memory.count - 1].append(piece)
        } else {
            memory.append(piece)
        }
        guard case .waiting(let reader, let least) = reading else { return .none }
        return supply(reader, least: least)
    }

    /// Delivers the gathered bytes if the reader still waits for them.
    mutating func flush() -> Action {
        isToFlush = false
        guard case .waiting(let reader, _) = reading else { return .none }
        return supply(reader, least: 1)
    }

    /// A piece has been put aside, or can't be.
    mutating func spilled(_ result: Result<Int, any Error>) -> Action {
        isSpilling = false
        switch result {
        case .success(let count):
            diskLength += count
            guard case .waiting(let reader, _) = reading else { return .none }
            return supply(reader, least: 1)
        case .failure(let error):
            return fail(error)
        }
    }

    /// Adds the reader. There is at most one.
    ///
    /// - Parameter least: The number of bytes that the reader wants together. It gets fewer if no more arrive for a
    ///   moment.
    mutating func ask(_ reader: Reader, least: Int = 1) -> Action {
        guard case .nobody = reading else { return .finish(reader, CancellationError(), stops: false) }
        return supply(reader, least: least)
    }

    /// Receives bytes that were read from the files, or the error.
    mutating func fetched(_ result: Result<Data, any Error>) -> Action {
        guard case .fetching(let reader) = reading else { return .none }
        switch result {
        case .success(let piece):
            reading = .nobody
            return .deliver(reader, [piece], stops: false)
        case .failure(let error):
            diskLength = 0
            // The bytes in memory came after the lost ones.
            memory = []
            memoryLength = 0
            reading = .waiting(reader, least: 1)
            return fail(error)
        }
    }

    /// The transfer has ended. With a cause if it broke off.
    mutating func complete(_ error: (any Error)?) -> Action {
        guard end == nil else { return .none }
        end = error.map { .failed($0) } ?? .complete
        guard case .waiting(let reader, _) = reading else { return .none }
        return supply(reader, least: 1)
    }

    /// Drops the reader and all bytes.
    mutating func abandon() -> Action {
        let stops = end == nil
        defer {
            end = end ?? .failed(CancellationError())
            reading = .nobody
            memory = []
            memoryLength = 0
            diskLength = 0
        }
        switch reading {
        case .nobody: return stops ? .stop : .none
        case .waiting(let reader, _), .fetching(let reader): return .finish(reader, CancellationError(), stops: stops)
        }
    }

    /// Gives a reader what there is, or lets it wait.
    private mutating func supply(_ reader: Reader, least: Int) -> Action {
        reading = .nobody
        let isAll = diskLength == 0 && !isSpilling && end == nil
        if !memory.isEmpty, memoryLength >= least || !isAll {
            return .deliver(reader, takeFromMemory(max(sizes.piece, least)), stops: false)
        }
        if diskLength > 0 {
            let count = min(diskLength, max(sizes.piece, least))
            diskLength -= count
            reading = .fetching(reader)
            return .fetch(count)
        }
        switch end {
        case .complete: return .finish(reader, nil, stops: false)
        case .failed(let error): return .finish(reader, error, stops: false)
        case nil:
            reading = .waiting(reader, least: least)
            guard !memory.isEmpty, !isToFlush else { return .none }
            isToFlush = true
            return .flushLater
        }
    }

    private mutating func takeFromMemory(_ most: Int) -> [Data] {
        var count = 1
        var length = memory[0].count
        while count < memory.count, length + memory[count].count <= most {
            length += memory[count].count
            count += 1
        }
        defer {
            memory.removeFirst(count)
            memoryLength -= length
        }
        return Array(memory.prefix(count))
    }

    /// Ends the transfer from this side. What came before is still there for its reader.
    private mutating func fail(_ error: any Error) -> Action {
        let stops = end == nil
        end = .failed(error)
        guard case .waiting(let reader, _) = reading else { return stops ? .stop : .none }
        reading = .nobody
        if !memory.isEmpty { return .deliver(reader, takeFromMemory(sizes.piece), stops: stops) }
        return .finish(reader, error, stops: stops)
    }
}

extension BodyBufferStateMachine.Action: Sendable where Reader: Sendable {}
