#if os(Linux)
internal import CIDMCurl
internal import Foundation
internal import IDMCore
internal import Synchronization

/// The state that a transport, its exchanges and its thread share: the commands for the thread, the exchanges with news
/// in this turn, and the sockets.
///
/// The thread ends when the transport is released and no exchange is left.
final class CurlLoop: Sendable {
    enum Command: Sendable {
        case start(CurlExchange)
        case stop(UInt)
        /// Resume a transfer that is paused, in one direction or both.
        case resume(UInt)
        /// End the transfer in a moment, unless it ends before, and resume it.
        case skip(UInt)
        /// No transport is left that could start exchanges.
        case close
    }

    private struct Queue {
        var commands: [Command] = []
        /// True if the thread waits, and has to be woken.
        var isAsleep = false
    }

    /// The parameters of a transport.
    struct Settings: Sendable {
        var connectionsPerHost = 6
        var connections = 256
        var certificates: String?
    }

    private static let numbers = Atomic<UInt>(1)
    /// The loops by their numbers, for libcurl's callbacks.
    private static let loops = Locked<[UInt: CurlLoop]>([:])

    let number = CurlLoop.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let settings: Settings
    let connections = Locked(CurlConnections())
    private let queue = Locked(Queue())
    /// The exchanges with news in this turn.
    private let touched = Locked<[CurlExchange]>([])
    private let address: UInt

    private init(_ settings: Settings, multi: OpaquePointer) {
        self.settings = settings
        address = UInt(bitPattern: multi)
    }

    deinit { cidm_multi_cleanup(multi) }

    /// libcurl's handle of all transfers. Other threads than the loop's use it only to wake that one.
    var multi: OpaquePointer { OpaquePointer(bitPattern: address).unsafelyUnwrapped }

    static func start(_ settings: Settings) throws(CurlTransport.Unavailable) -> CurlLoop {
        if let fault = CurlLibrary.fault { throw fault }
        guard let multi = cidm_multi_init() else { throw .noDescriptor }
        let loop = CurlLoop(settings, multi: multi)
        loops.withLock { $0[loop.number] = loop }
        Thread.detachNewThread {
            // libcurl may write to a socket that the server has closed.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            var worker = CurlWorker(loop)
            worker.run()
        }
        return loop
    }

    static func withNumber(_ number: UnsafeMutableRawPointer?) -> CurlLoop? {
        loops.withLock { $0[UInt(bitPattern: number)] }
    }

    func finish() { Self.loops.withLock { $0[number] = nil } }

    // MARK: On any thread

    func submit(_ command: Command) {
        let wakes = queue.withLock { queue in
            queue.commands.append(command)
            defer { queue.isAsleep = false }
            return queue.isAsleep
        }
        if wakes { cidm_multi_wakeup(multi) }
    }

    // MARK: On the thread

    func takeCommands() -> [Command] {
        queue.withLock { queue in
            defer { queue.commands = [] }
            return queue.commands
        }
    }

    func touch(_ exchange: CurlExchange) { touched.withLock { $0.append(exchange) } }

    func takeTouched() -> [CurlExchange] {
        touched.withLock { touched in
            defer { touched = [] }
            return touched
        }
    }

    /// Waits until the network or a command needs the thread, and lets libcurl work.
    func turn(atMost duration: Duration?) {
        let milliseconds = duration.map { Int32(clamping: $0.components.seconds * 1_000 + 1_000) } ?? -1
        let sleeps = queue.withLock { queue in
            queue.isAsleep = queue.commands.isEmpty
            return queue.isAsleep
        }
        cidm_multi_turn(multi, sleeps ? milliseconds : 0)
        queue.withLock { $0.isAsleep = false }
    }
}
#endif
