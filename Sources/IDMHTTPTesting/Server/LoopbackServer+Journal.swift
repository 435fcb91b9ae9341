extension LoopbackServer {
    /// What a server has seen.
    public struct Journal: Sendable {
        /// The requests that have come, in the order in which they were complete, or else in which they were answered
        /// or broken off.
        public internal(set) var requests: [Request] = []
        /// The connections that were made, in their order: the first one has the number 1.
        public internal(set) var connections: [Connection] = []
        /// How many requests have come, also where they aren't kept.
        public internal(set) var requestCount = 0
        /// How many connections were made, also where they aren't kept.
        public internal(set) var connectionCount = 0
        /// How many connections are open.
        public internal(set) var openConnectionCount = 0

        var isStopped = false
        var runningTasks = 0
    }

    /// What a server has seen of one connection.
    public struct Connection: Sendable, Hashable {
        /// Its number, from 1.
        public let number: Int
        /// How many bytes the network has taken from the server.
        public internal(set) var bytesSent = 0
        /// How many bytes have come.
        public internal(set) var bytesReceived = 0
        /// Whether there are bytes to send that the network doesn't take: whoever reads at the other end is slower.
        public internal(set) var isBlocked = false
        /// Whether it is closed, by either side.
        public internal(set) var isClosed = false

        init(number: Int) {
            self.number = number
        }
    }
}
