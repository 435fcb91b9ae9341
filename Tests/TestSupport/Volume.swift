#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How much the tests of many calls do. `IDM_SOAK=1` asks for all of it.
package enum Volume {
    package static let isFull = getenv("IDM_SOAK") != nil

    /// A count that a normal run does a part of.
    package static func of(_ full: Int, normally: Int) -> Int { isFull ? full : normally }
}
