#if canImport(Darwin)
internal import Darwin
#endif

/// Since which start of the machine its time runs. A moment of ``MachineTime`` from before another start says nothing
/// here.
enum MachineStart {
    /// Tells this start from all others. Where the system doesn't, no moment of another process means anything.
    static let current = name.map { name in name.withUnsafeBytes { Checksum.of($0) } } ?? .random(in: .min ... .max)
    /// The same for what processes tell one another. Where the system doesn't tell, all starts are one.
    static let digest = Digest(of: name ?? [])

    private static var name: [UInt8]? {
        var name = [UInt8](repeating: 0, count: 64)
        #if canImport(Darwin)
        var count = name.count
        guard sysctlbyname("kern.bootsessionuuid", &name, &count, nil, 0) == 0 else { return nil }
        #else
        let files = POSIXFiles()
        guard let file = try? files.open("/proc/sys/kernel/random/boot_id", .reading) else { return nil }
        defer { try? files.close(file) }
        let count = (try? name.withUnsafeMutableBytes { try files.read(file, $0) }) ?? 0
        #endif
        return count > 0 ? Array(name[..<count]) : nil
    }
}
