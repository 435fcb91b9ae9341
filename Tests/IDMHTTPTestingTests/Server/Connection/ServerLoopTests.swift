import Foundation
import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("The thread of a server", .timeLimit(.ample))
struct ServerLoopTests {
    @Test("A server without descriptors accepts a connection later")
    func noRoom() throws {
        let hub = try ServerHub(place: SourcePlace(), bodyLimit: 0, remembers: true)
        let listener = try ServerSocket.listening()
        var refusals = 0
        let loop = ServerLoop(hub: hub, listener: listener, pipe: hub.pipe) {
            refusals += 1
            return refusals <= 3 ? .failed(EMFILE) : listener.accepted()
        }
        let client = try RawClient(port: listener.port, listening: false)
        for refusal in 1...3 {
            #expect(loop.isListening && loop.turn())
            #expect(!loop.isListening && refusals == refusal)
            // The client waits all the while, and doesn't end this turn.
            hub.post(.goOn(connection: 1, wait: 1))
            #expect(loop.turn() && refusals == refusal)
        }
        #expect(hub.journal.value.connectionCount == 0)
        #expect(loop.turn() && loop.isListening)
        #expect(hub.journal.value.connectionCount == 1)
        hub.stop()
        loop.run()
        hub.pipe.close()
        withExtendedLifetime(client) {}
    }

    @Test("A server looks for connections again by itself")
    func looksAgain() throws {
        let hub = try ServerHub(place: SourcePlace(), bodyLimit: 0, remembers: true)
        let listener = try ServerSocket.listening()
        var hasRoom = false
        let loop = ServerLoop(hub: hub, listener: listener, pipe: hub.pipe) {
            hasRoom ? listener.accepted() : .failed(ENFILE)
        }
        let client = try RawClient(port: listener.port, listening: false)
        #expect(loop.turn() && !loop.isListening)
        hasRoom = true
        #expect(loop.turn() && loop.isListening)
        #expect(loop.turn())
        #expect(hub.journal.value.connectionCount == 1)
        hub.stop()
        loop.run()
        hub.pipe.close()
        withExtendedLifetime(client) {}
    }

    @Test("A connection that is gone before its accept is ignored")
    func gone() {
        for code in [EAGAIN, EINTR, ECONNABORTED] {
            if case .nothing = ServerSocket.Accepted.failed(code) { continue }
            Issue.record("\(code) is no want of room")
        }
    }
}
