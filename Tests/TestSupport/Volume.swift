#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The size of tests with many calls. `IDM_SOAK=1` selects the full size.
package enum Volume {
    package static let isFull = getenv("IDM_SOAK") != nil

    /// A count that a normal run does a part of.
    package static func of(_ full: Int, normally: Int) -> Int { isFull ? full : normally }
}
