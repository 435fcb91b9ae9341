public import Foundation
internal import IDMCore
public import IDMHTTP
public import IDMTesting

extension LoopbackServer {
    /// An answer of the server: its content, its faults, its pace, and the point at which it breaks off.
    ///
    /// ```swift
    /// server.on(
    ///     .get, "/users/1",
    ///     answers: [
    ///         .json(#"{"id": 1}"#).header("ETag", #""v1""#),
    ///         .text("hello").chunked(by: 2).cut(at: .body(3)),
    ///         .status(503).header("Retry-After", "2").waiting(for: gate),
    ///     ])
    /// ```
    ///
    /// An answer is a value, and may be given any number of times. Left as it is, it keeps to the rules: it announces
    /// the length of its body, has none where none may be, and leaves the connection open.
    public struct Answer: Sendable {
        /// A place in an answer.
        public struct Point: Sendable, Hashable {
            enum Section: Int, Comparable {
                case head, body, end

                static func < (left: Section, right: Section) -> Bool { left.rawValue < right.rawValue }
            }

            let section: Section
            let offset: Int

            /// Before the first byte.
            public static let start = head(0)
            /// Behind so many bytes of the header.
            public static func head(_ count: Int) -> Point { Point(section: .head, offset: max(count, 0)) }
            /// Behind the header, and so many bytes of the body.
            public static func body(_ count: Int) -> Point { Point(section: .body, offset: max(count, 0)) }
            /// Behind the last byte.
            public static let end = Point(section: .end, offset: 0)
        }

        enum Body: Sendable {
            case data(Data)
            case resource(Resource)
            /// The whole answer, from its first byte.
            case raw(Data)
        }

        enum Framing: Sendable {
            case length
            case announced(Int)
            case chunks(Int)
            case untilClose
        }

        enum Event: Sendable {
            case pause(Pause)
            case close
            case reset
        }

        struct Pace: Sendable {
            let length: Int
            let pause: Pause?
        }

        var status: Int
        var fields: [(name: [UInt8], value: [UInt8])] = []
        var interim: [(status: Int, headers: ServiceHeaders)] = []
        var body: Body
        var framing = Framing.length
        var events: [(point: Point, event: Event)] = []
        var pace: Pace?
        var reading = Reading()
        var closes = false

        init(status: Int, body: Body = .data(Data())) {
            self.status = status
            self.body = body
        }
    }

    /// The way in which the body of a request is read.
    struct Reading: Sendable {
        /// After how many bytes the answer is given. Nil for the whole body.
        var limit: Int?
        var pace: Answer.Pace?
    }
}

/// A wait within an answer.
enum Pause: Sendable {
    case gate(TestGate)
    case time(Duration, any Clock<Duration>)
    case ever

    func wait() async throws {
        switch self {
        case .gate(let gate): try await gate.pass()
        case .time(let duration, let clock): try await clock.pause(for: duration)
        case .ever: try await TestGate().pass()
        }
    }
}

// MARK: What is answered

extension LoopbackServer.Answer {
    /// A status without a body. Any number will do, of three digits or not.
    public static func status(_ status: Int) -> Self {
        Self(status: status)
    }

    /// A text.
    public static func text(_ text: String, status: Int = 200) -> Self {
        bytes(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// A text with the type of JSON.
    public static func json(_ text: String, status: Int = 200) -> Self {
        json(Data(text.utf8), status: status)
    }

    /// Bytes with the type of JSON.
    public static func json(_ data: Data, status: Int = 200) -> Self {
        bytes(data, type: "application/json", status: status)
    }

    /// Bytes of some type. Nil for no type.
    public static func bytes(_ data: Data, type: String? = "application/octet-stream", status: Int = 200) -> Self {
        let answer = Self(status: status, body: .data(data))
        return type.map { answer.header("Content-Type", $0) } ?? answer
    }

    /// A redirect. The Location is sent as it is written.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        Self(status: status).header("Location", location)
    }

    /// Something big, or the part of it that is asked for: with 206, 304 or 416 where those are due.
    public static func resource(_ resource: LoopbackServer.Resource) -> Self {
        Self(status: 200, body: .resource(resource))
    }

    /// Zeros, packed by gzip: about a thousand times as many as travel.
    package static func gzipBomb(unpacking length: Int, status: Int = 200) -> Self {
        bytes(Gzip.zeros(length), status: status).header("Content-Encoding", "gzip")
    }

    /// Exactly these bytes and nothing else, from the first byte of the status line. Then the connection closes.
    public static func raw(_ data: Data) -> Self {
        Self(status: 0, body: .raw(data)).closing()
    }

    /// Exactly this text and nothing else, from the first byte of the status line. Then the connection closes.
    public static func raw(_ text: String) -> Self {
        raw(Data(text.utf8))
    }

    /// No answer: the connection closes as if there were nothing to say.
    public static let hangUp = status(200).cut(at: .start)

    /// No answer: the connection is reset.
    public static let reset = status(200).reset(at: .start)

    /// No answer, as long as the client waits.
    public static let never = Self(status: 200).event(.pause(.ever), at: .start)
}

// MARK: Its header

extension LoopbackServer.Answer {
    /// The answer with one more line at the end of its header.
    ///
    /// A Content-Length, Transfer-Encoding or Connection that is written here takes the place of the server's own.
    public func header(_ name: String, _ value: String) -> Self {
        header(name, bytes: Data(value.utf8))
    }

    /// The answer with one more line in its header, whose value may be any bytes.
    package func header(_ name: String, bytes value: Data) -> Self {
        changed { $0.fields.append((Array(name.utf8), Array(value))) }
    }

    /// The answer with more lines at the end of its header.
    public func headers(_ headers: ServiceHeaders) -> Self {
        headers.reduce(self) { $0.header($1.name.spelling, $1.value) }
    }

    /// The answer with a head of a status of 1xx before it.
    public func preceded(by status: Int, headers: ServiceHeaders = [:]) -> Self {
        changed { $0.interim.append((status, headers)) }
    }
}

// MARK: Its body

extension LoopbackServer.Answer {
    /// The answer in chunks of so many bytes, instead of with a length.
    public func chunked(by length: Int = 1 << 16) -> Self {
        changed { $0.framing = .chunks(max(length, 1)) }
    }

    /// The answer without a length: its body ends when the connection does.
    public func untilClose() -> Self {
        changed { $0.framing = .untilClose }.closing()
    }

    /// The answer with a length that isn't its own: more or less than its body has. Then the connection closes.
    public func announcing(length: Int) -> Self {
        changed { $0.framing = .announced(length) }.closing()
    }

    /// The answer with its body packed by gzip, without making it smaller.
    ///
    /// - Parameter damaged: Whether the packing is spoiled: one bit of its content, so that it doesn't fit its
    ///   checksum.
    public func gzipped(damaged: Bool = false) -> Self {
        guard case .data(let data) = body else { return self }
        return changed { $0.body = .data(Gzip.stored(data, damaged: damaged)) }.header("Content-Encoding", "gzip")
    }
}

// MARK: Its time

extension LoopbackServer.Answer {
    /// The answer, which waits at a point of it until a gate lets it through.
    public func waiting(for gate: TestGate, at point: Point = .start) -> Self {
        event(.pause(.gate(gate)), at: point)
    }

    /// The answer, which waits at a point of it for some time.
    public func waiting(_ duration: Duration, on clock: any Clock<Duration>, at point: Point = .start) -> Self {
        event(.pause(.time(duration, clock)), at: point)
    }

    /// The answer, whose body leaves so many bytes at a time, each time when the gate lets it through.
    public func dripping(_ count: Int, through gate: TestGate) -> Self {
        changed { $0.pace = Pace(length: max(count, 1), pause: .gate(gate)) }
    }

    /// The answer, whose body leaves so many bytes at a time, each time after some time.
    public func dripping(_ count: Int, every duration: Duration, on clock: any Clock<Duration>) -> Self {
        changed { $0.pace = Pace(length: max(count, 1), pause: .time(duration, clock)) }
    }

    /// The answer, whose body leaves in pieces of a number of bytes, without pauses.
    public func dripping(_ count: Int) -> Self {
        changed { $0.pace = Pace(length: max(count, 1), pause: nil) }
    }
}

// MARK: Its end

extension LoopbackServer.Answer {
    /// The answer, which breaks off at a point of it: the connection closes in good order.
    public func cut(at point: Point) -> Self {
        event(.close, at: point)
    }

    /// The answer, which breaks off at a point of it: the connection is reset.
    public func reset(at point: Point) -> Self {
        event(.reset, at: point)
    }

    /// The answer, after which the connection closes, and which says so.
    public func closing() -> Self {
        changed { $0.closes = true }
    }
}

// MARK: What is read before it

extension LoopbackServer.Answer {
    /// The answer, which is given when so many bytes of the request's body have come. The rest is read behind it.
    public func early(after count: Int = 0) -> Self {
        changed { $0.reading.limit = max(count, 0) }
    }

    /// The answer to a request whose body is read so many bytes at a time, each time when the gate lets them through.
    public func reading(_ count: Int, through gate: TestGate) -> Self {
        changed { $0.reading.pace = Pace(length: max(count, 1), pause: .gate(gate)) }
    }
}

extension LoopbackServer.Answer {
    private func changed(_ change: (inout Self) -> Void) -> Self {
        var answer = self
        change(&answer)
        return answer
    }

    private func event(_ event: Event, at point: Point) -> Self {
        changed { $0.events.append((point, event)) }
    }
}
