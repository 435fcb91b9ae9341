extension LoopbackServer {
    /// The record of a server.
    public struct Journal: Sendable {
        /// The requests that have come, in the order in which they were complete, or else in which they were answered
        /// or broken off.
        public internal(set) var requests: [Request] = []
        /// The connections that were made, in their order: the first one has the number 1.
        public internal(set) var connections: [Connection] = []
        /// The number of requests, also if they aren't kept.
        public internal(set) var requestCount = 0
        /// The number of connections, also if they aren't kept.
        public internal(set) var connectionCount = 0
        /// The number of open connections.
        public internal(set) var openConnectionCount = 0

        var isStopped = false
        var runningTasks = 0
    }

    /// The record of one connection.
    public struct Connection: Sendable, Hashable {
        /// Its number, from 1.
        public let number: Int
        /// The number of bytes that the network has taken from the server.
        public internal(set) var bytesSent = 0
        /// The number of received bytes.
        public internal(set) var bytesReceived = 0
        /// True if the network doesn't take the bytes to send: the client reads more slowly.
        public internal(set) var isBlocked = false
        /// True if either side has closed the connection.
        public internal(set) var isClosed = false

        init(number: Int) {
            self.number = number
        }
    }
}
