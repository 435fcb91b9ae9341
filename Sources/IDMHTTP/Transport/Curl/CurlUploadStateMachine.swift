#if os(Linux)
internal import Foundation

/// The body of a request between the task that reads it and libcurl, which sends it: a queue of bounded length that
/// either side may have to wait for. A pure value.
struct CurlUploadStateMachine<Producer> {
    /// The effects of an event.
    struct Action {
        /// The waiting producer, and whether it appends further pieces.
        var producer: (Producer, goesOn: Bool)?
        /// True if libcurl, which is paused, has to read again.
        var resumes = false
    }

    enum Supply: Equatable {
        /// No more bytes than there is room for.
        case bytes([Data])
        /// There are no bytes yet. libcurl reads again when it is resumed.
        case paused
        case end
    }

    private enum Phase {
        case flowing(Producer?)
        /// No more bytes are appended.
        case complete
        /// No more bytes are read.
        case over
    }

    private let window: Int
    private var pieces: [Data] = []
    /// The number of bytes of the first piece that were read.
    private var offset = 0
    private var length = 0
    private var isPaused = false
    private var phase: Phase
    /// The number of bytes that libcurl has read.
    private(set) var given: Int64 = 0

    /// - Parameter data: The whole body, if it is in memory.
    init(_ data: Data? = nil, window: Int) {
        self.window = window
        phase = data == nil ? .flowing(nil) : .complete
        pieces = data.map { [$0] } ?? []
        length = data?.count ?? 0
    }

    /// Appends a piece. The producer is resumed when there is room for the next piece.
    mutating func append(_ piece: Data, _ producer: Producer) -> Action {
        guard case .flowing(nil) = phase else { return Action(producer: (producer, goesOn: false)) }
        pieces.append(piece)
        length += piece.count
        var action = Action(resumes: takePause())
        if length < window { action.producer = (producer, goesOn: true) } else { phase = .flowing(producer) }
        return action
    }

    /// Ends the body.
    mutating func complete() -> Action {
        guard case .flowing = phase else { return Action() }
        phase = .complete
        return Action(resumes: takePause())
    }

    /// Returns bytes for libcurl, up to the room that it has.
    mutating func read(upTo room: Int) -> (Supply, Action) {
        var taken: [Data] = []
        var count = 0
        while let piece = pieces.first, count < room {
            let part = piece.dropFirst(offset).prefix(room - count)
            taken.append(part)
            count += part.count
            offset += part.count
            guard offset == piece.count else { break }
            pieces.removeFirst()
            offset = 0
        }
        length -= count
        given += Int64(count)
        switch phase {
        case .flowing(let producer):
            isPaused = count == 0
            let supply = count > 0 ? Supply.bytes(taken) : .paused
            guard let producer, length <= window / 2 else { return (supply, Action()) }
            phase = .flowing(nil)
            return (supply, Action(producer: (producer, goesOn: true)))
        case .complete, .over: return (count > 0 ? .bytes(taken) : .end, Action())
        }
    }

    /// Ends the exchange.
    mutating func end() -> Action {
        defer {
            phase = .over
            pieces = []
            length = 0
        }
        guard case .flowing(let producer?) = phase else { return Action() }
        return Action(producer: (producer, goesOn: false))
    }

    private mutating func takePause() -> Bool {
        defer { isPaused = false }
        return isPaused
    }
}
#endif
