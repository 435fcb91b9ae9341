#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

extension LoopbackServer {
    /// Why a server could not start.
    public struct StartFault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The call of the system that failed.
        public let call: String
        /// The value of `errno`.
        public let code: Int32

        /// The call and the code, in words where it is the process that has no room.
        public var description: String {
            let reason = code == EMFILE ? ", as the process has as many files open as it may have" : ""
            return "The system refused a port: \(call) failed with \(code)\(reason)."
        }
    }
}
