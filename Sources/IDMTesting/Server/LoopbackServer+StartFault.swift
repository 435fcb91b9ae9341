extension LoopbackServer {
    /// Why a server could not start.
    public struct StartFault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The call of the system that failed.
        public let call: String
        /// What `errno` was.
        public let code: Int32

        /// The call and the code.
        public var description: String { "The system refused a port: \(call) failed with \(code)." }
    }
}
