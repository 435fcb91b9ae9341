#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What work takes of a processor: the same on a busy machine, unlike the time that goes by.
package enum ThreadTime {
    /// The nanoseconds that this thread works for it.
    package static func of(_ work: () -> Void) -> Int64 {
        let before = now
        work()
        return now - before
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
