import Foundation
import IDMCore

/// The loop of the server thread: waits for sockets, and performs the actions of the connections.
final class ServerLoop {
    /// The duration of a turn that accepts no connections, in milliseconds.
    private static let rest: Int32 = 50

    private let hub: ServerHub
    private let listener: ServerSocket
    private let pipe: WakePipe
    private let accepted: () -> ServerSocket.Accepted
    private var connections: [Int: ServerConnection] = [:]
    private var lastConnection = 0
    /// True if the next turn accepts connections.
    private(set) var isListening = true

    /// - Parameter accepted: What the listener accepts next. Nil for what it says itself.
    init(
        hub: ServerHub, listener: ServerSocket, pipe: WakePipe, accepted: (() -> ServerSocket.Accepted)? = nil
    ) {
        self.hub = hub
        self.listener = listener
        self.pipe = pipe
        self.accepted = accepted ?? listener.accepted
    }

    /// Runs until the stop message, and closes everything.
    func run() {
        while turn() {}
        listener.close()
        for connection in connections.values { connection.end() }
    }

    /// Waits for events, and handles them. Returns false after the stop message.
    func turn() -> Bool {
        var readiness = Readiness()
        readiness.add(pipe.reader, reading: true, writing: false)
        readiness.add(listener.descriptor, reading: isListening, writing: false)
        let open = Array(connections.values)
        for connection in open {
            readiness.add(
                connection.socket.descriptor, reading: connection.wantsToRead, writing: connection.wantsToWrite)
        }
        readiness.wait(isListening ? nil : Self.rest)
        isListening = true
        for (place, connection) in open.enumerated() {
            let (canRead, canWrite, isBroken) = readiness.happened(place + 2)
            if canRead && connection.wantsToRead { connection.read() }
            if canWrite { connection.write() }
            // What is broken, with nothing left to read from it.
            if isBroken && !canRead { connection.breakOff() }
        }
        if readiness.happened(0).canRead {
            pipe.drain()
            for message in hub.takeMessages() {
                switch message {
                case .stop: return false
                case .goOn(let connection, let wait): connections[connection]?.goOn(wait, nil)
                case .answer(let answer, let connection, let wait): connections[connection]?.goOn(wait, answer)
                }
            }
        }
        if readiness.happened(1).canRead { accept() }
        for (number, connection) in connections where connection.isOver { connections[number] = nil }
        return true
    }

    private func accept() {
        while true {
            switch accepted() {
            case .connection(let socket): open(socket)
            case .nothing: return
            case .noRoom:
                // Whoever waits goes on waiting, so the listener would end each turn at once. What makes room may be
                // somebody else's, of which nobody hears: so it is left out for one turn, and a short one.
                isListening = false
                return
            }
        }
    }

    private func open(_ socket: ServerSocket) {
        lastConnection += 1
        hub.opened(lastConnection)
        let connection = ServerConnection(number: lastConnection, socket: socket, hub: hub)
        connections[lastConnection] = connection
        connection.proceed()
    }
}
