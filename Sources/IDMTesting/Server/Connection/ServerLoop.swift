import Foundation
import IDMCore

/// What runs on the server's thread: waits for sockets, and does what the conversations ask for.
final class ServerLoop {
    private let hub: ServerHub
    private let listener: ServerSocket
    private let pipe: WakePipe
    private var connections: [Int: ServerConnection] = [:]
    private var lastConnection = 0

    init(hub: ServerHub, listener: ServerSocket, pipe: WakePipe) {
        self.hub = hub
        self.listener = listener
        self.pipe = pipe
    }

    /// Returns when it has been told to stop, with everything closed.
    func run() {
        while turn() {}
        listener.close()
        for connection in connections.values { connection.end() }
    }

    private func turn() -> Bool {
        var readiness = Readiness()
        readiness.add(pipe.reader, reading: true, writing: false)
        readiness.add(listener.descriptor, reading: true, writing: false)
        let open = Array(connections.values)
        for connection in open {
            readiness.add(
                connection.socket.descriptor, reading: connection.wantsToRead, writing: connection.wantsToWrite)
        }
        readiness.wait()
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
        while let socket = listener.accepted() {
            lastConnection += 1
            hub.opened(lastConnection)
            let connection = ServerConnection(number: lastConnection, socket: socket, hub: hub)
            connections[lastConnection] = connection
            connection.proceed()
        }
    }
}
