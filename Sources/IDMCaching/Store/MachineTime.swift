#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A time that nobody can set, and that all processes of the machine share. It starts again when the machine does.
enum MachineTime {
    /// The present, in nanoseconds.
    static var now: Int64 {
        #if canImport(Darwin)
        let clock = CLOCK_MONOTONIC_RAW
        #else
        let clock = CLOCK_BOOTTIME
        #endif
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
