internal import Dispatch

/// The threads on which a disk cache works, so that none of the cooperative pool waits for a disk. Work for the same key
/// is done in the order in which it was asked for.
struct DiskLanes: Sendable {
    private let queues: [DispatchQueue]

    init(width: Int = 4) {
        queues = (0..<width).map { DispatchQueue(label: "IDMCaching.disk.\($0)") }
    }

    /// Does work on the lane of a digest, which takes its place in the line before this suspends.
    func run<R: Sendable>(_ digest: Digest, _ work: @escaping @Sendable () -> R) async -> R {
        await run(on: queues[Int(digest.bytes[0]) % queues.count], work)
    }

    /// Does work when everything that was asked for before has been done.
    func runAfterAll<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
        let barrier = DispatchGroup()
        for queue in queues { queue.async(group: barrier) {} }
        return await withUnsafeContinuation { continuation in
            barrier.notify(queue: queues[0]) { continuation.resume(returning: work()) }
        }
    }

    private func run<R: Sendable>(on queue: DispatchQueue, _ work: @escaping @Sendable () -> R) async -> R {
        await withUnsafeContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }
}
