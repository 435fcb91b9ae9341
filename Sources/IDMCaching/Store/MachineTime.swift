#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A time that nobody can set, and that all processes of the machine share. It starts again when the machine does.
enum MachineTime {
    /// Since which start of the machine it runs. A moment from before another start says nothing here.
    static let start =
        currentStart().map { name in name.withUnsafeBytes { Checksum.of($0) } }
        // Where the system doesn't tell, no moment of another process means anything.
        ?? UInt64.random(in: .min ... .max)

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

    private static func currentStart() -> [UInt8]? {
        var name = [UInt8](repeating: 0, count: 64)
        #if canImport(Darwin)
        var count = name.count
        guard sysctlbyname("kern.bootsessionuuid", &name, &count, nil, 0) == 0 else { return nil }
        return Array(name[..<count])
        #else
        let files = POSIXFiles()
        guard let file = try? files.open("/proc/sys/kernel/random/boot_id", .reading) else { return nil }
        defer { try? files.close(file) }
        let count = (try? name.withUnsafeMutableBytes { try files.read(file, $0) }) ?? 0
        return count > 0 ? Array(name[..<count]) : nil
        #endif
    }
}
