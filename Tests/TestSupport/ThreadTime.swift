#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Measures the processor time of work, which a busy machine doesn't change.
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
