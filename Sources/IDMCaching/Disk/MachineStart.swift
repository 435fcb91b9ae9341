internal import IDMCore
internal import IDMFiles

/// Since which start of the machine its time runs. A moment of ``MachineTime`` from before another start says nothing
/// here.
enum MachineStart {
    /// Tells this start from all others. Where the system doesn't, no moment of another process means anything.
    static var current: UInt64 { known?.number ?? unknown }
    /// The same for what processes tell one another. Zero where the system doesn't tell.
    static var digest: Digest { known?.digest ?? .zero }

    private static let unknown = UInt64.random(in: .min ... .max)

    /// Whether what a process has said belongs to an earlier start. Where one of the two starts isn't known, it may
    /// belong to this one: who hears too much drops an answer, and who hears too little keeps one that is out of date.
    static func isEarlier(_ told: Digest?, than own: Digest = digest) -> Bool {
        guard let told else { return true }
        return told != own && told != .zero && own != .zero
    }

    private struct Name {
        let number: UInt64
        let digest: Digest
    }

    private static let found = Locked<Name?>(nil)

    /// Looked for until it is found: at times a process has no descriptor left.
    private static var known: Name? {
        if let name = found.withLock({ $0 }) { return name }
        let name = POSIXFiles().session.map { Array($0.utf8) }.map { name in
            Name(number: name.withUnsafeBytes { Checksum.of($0) }, digest: Digest(of: name))
        }
        found.withLock { $0 = name }
        return name
    }
}
