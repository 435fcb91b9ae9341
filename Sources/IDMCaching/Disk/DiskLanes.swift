internal import Dispatch
internal import IDMCore

/// The threads on which a disk cache works, so that none of the cooperative pool waits for a disk. Writes and removals
/// of the same key are done in the order in which they were asked for, and so are reads of it. Reads stand in no line
/// behind writes, which may wait for another process.
struct DiskLanes: Sendable {
    private let lanes: [DiskLane]
    private let readers: [DiskLane]
    /// For what takes long, and nobody's reads are to wait for.
    private let side: DiskLane

    init() {
        lanes = (0..<4).map { DiskLane(name: "\($0)") }
        readers = (0..<4).map { DiskLane(name: "reader-\($0)") }
        side = DiskLane(name: "side")
    }

    /// Does work on the lane of a digest, which takes its place in the line before this suspends.
    func run<R: Sendable>(_ digest: Digest, _ work: @escaping @Sendable () -> R) async -> R {
        await lanes[Int(digest.bytes[0]) % lanes.count].trip(work)
    }

    /// Reads on the reader of a digest, beside everything else.
    func read<R: Sendable>(_ digest: Digest, _ work: @escaping @Sendable () -> R) async -> R {
        await readers[Int(digest.bytes[0]) % readers.count].trip(work)
    }

    /// Does work when all writes and removals that were asked for before have been done.
    func runAfterAll<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
        for lane in lanes { await lane.trip {} }
        return await side.trip(work)
    }

    /// Does work beside everything else, one after the other.
    func runBeside<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
        await side.trip(work)
    }
}

/// The number of entries that have landed, by which a read sees that the one it has opened was replaced since. Some keys
/// are counted together.
struct Landings: Sendable, ~Copyable {
    private let counts = Locked(Array(repeating: 0, count: 64))

    func last(_ digest: Digest) -> Int {
        let place = Int(digest.bytes[1]) % 64
        return counts.withLock { $0[place] }
    }

    func add(_ digest: Digest) {
        let place = Int(digest.bytes[1]) % 64
        counts.withLock { $0[place] += 1 }
    }
}

/// One thing after the other, on a queue of its own.
private actor DiskLane {
    private nonisolated let executor: QueueExecutor

    init(name: String) {
        executor = QueueExecutor(label: "IDMCaching.disk.\(name)")
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Does work there, and tells whoever watches that the caller is on its way meanwhile.
    nonisolated func trip<R: Sendable>(_ work: @Sendable () -> R) async -> R {
        let trip = LibraryTask.beginActivity()
        defer { trip?.endActivity() }
        return await run(work)
    }

    private func run<R: Sendable>(_ work: @Sendable () -> R) -> R {
        work()
    }
}

/// Runs the jobs of an actor on a queue, whose thread may wait for a disk.
private final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
