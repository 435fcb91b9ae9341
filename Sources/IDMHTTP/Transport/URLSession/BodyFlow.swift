internal import Foundation

/// A body on its way from a network that can't be made to wait to a reader who takes its time. A value: what is to be
/// done comes out of each event, and is done by somebody else where no lock is held.
///
/// What nobody has read yet is kept in memory up to a window, and beyond that put aside on disk. The memory is older
/// than the disk: while anything lies there, whatever comes goes there as well.
struct BodyFlow<Reader> {
    /// What is to be done.
    enum Action {
        case none
        /// Whoever reads gets these pieces.
        case deliver(Reader, [Data], stops: Bool)
        /// Whoever reads is told that it was all, or why it wasn't.
        case finish(Reader, (any Error)?, stops: Bool)
        /// The transfer is to be stopped.
        case stop
        /// ``BodyFlow/flush()`` is to be called in a moment: somebody waits for more to come together.
        case flushLater
        /// A piece is to be put aside, and ``BodyFlow/spilled(_:)`` told of it.
        case spill(Data)
        /// So many bytes are to be fetched from what was put aside, and ``BodyFlow/fetched(_:)`` told of them.
        case fetch(Int)
    }

    /// How much is kept and handed over.
    struct Sizes {
        /// How many bytes are kept in memory.
        var window: Int
        /// How many bytes are handed over at once, unless more are wanted together, and save that a longer piece isn't
        /// cut.
        var piece: Int
        /// How many bytes there may be at all.
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
    /// How many bytes are in memory.
    private(set) var memoryLength = 0
    /// How many bytes lie on disk and aren't being fetched.
    private var diskLength = 0
    private var isSpilling = false
    private var isToFlush = false
    private var reading = Reading.nobody
    private var end: End?
    /// How many bytes have come.
    private(set) var received = 0

    /// Whether something lies on disk, or is on its way from there.
    var hasPutAside: Bool {
        if case .fetching = reading { true } else { diskLength > 0 || isSpilling }
    }

    init(_ sizes: Sizes) {
        self.sizes = sizes
    }

    /// A piece has come. No other event of the network comes before a piece that is to be put aside has been.
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

    /// What has come together is handed over, if somebody waits for it still.
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

    /// Somebody wants a piece. One reader at a time.
    ///
    /// - Parameter least: How many bytes are wanted together. Fewer are handed over where no more come for a moment.
    mutating func ask(_ reader: Reader, least: Int = 1) -> Action {
        guard case .nobody = reading else { return .finish(reader, CancellationError(), stops: false) }
        return supply(reader, least: least)
    }

    /// What was put aside has been fetched, or can't be.
    mutating func fetched(_ result: Result<Data, any Error>) -> Action {
        guard case .fetching(let reader) = reading else { return .none }
        switch result {
        case .success(let piece):
            reading = .nobody
            return .deliver(reader, [piece], stops: false)
        case .failure(let error):
            diskLength = 0
            // What is in memory has come behind what is lost.
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

    /// Nobody wants anything any more.
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

extension BodyFlow.Action: Sendable where Reader: Sendable {}
