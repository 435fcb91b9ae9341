#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A process of the system.
package struct SystemProcess: Sendable {
    private let number: Int32

    package init(_ number: Int32) { self.number = number }

    package var isRunning: Bool { kill(number, 0) == 0 || errno == EPERM }

    /// The start time, in any unit. Nil if it isn't known.
    package var start: UInt64? {
        #if canImport(Darwin)
        var (info, size) = (kinfo_proc(), MemoryLayout<kinfo_proc>.stride)
        var name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, number]
        guard sysctl(&name, UInt32(name.count), &info, &size, nil, 0) == 0, size > 0 else { return nil }
        let time = info.kp_proc.p_un.__p_starttime
        return UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000 &+ UInt64(bitPattern: Int64(time.tv_usec))
        #else
        let files = POSIXFiles()
        guard let file = try? files.open("/proc/\(number)/stat", .reading) else { return nil }
        defer { try? files.close(file) }
        guard let bytes = try? files.readAll(file, length: 1_024) else { return nil }
        // The second field is a name, which may contain anything; the twenty-second is the start time.
        let fields = bytes.suffix(from: bytes.lastIndex(of: UInt8(ascii: ")")).map { $0 + 1 } ?? bytes.endIndex)
            .split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
        #endif
    }
}
