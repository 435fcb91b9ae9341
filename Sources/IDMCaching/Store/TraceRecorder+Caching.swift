public import IDMCore

extension TraceRecorder {
    /// What a store is made with, so that what becomes of requests and entries is marked. Keys and values aren't shown.
    ///
    /// ```swift
    /// let memory = MemoryCache<String, [User]>(countLimit: 100, onOutcome: trace.outcomes(on: "memory"))
    /// ```
    ///
    /// - Parameter track: The name of the track on which the marks are shown.
    public func outcomes<Key>(on track: String) -> @Sendable (CachingOutcome<Key>) -> Void {
        { [self] outcome in mark(outcome.traced, on: track) }
    }
}

extension CachingOutcome {
    fileprivate var traced: String {
        switch self {
        case .hit: "hit"
        case .stale: "stale"
        case .miss: "miss"
        case .joined: "joined"
        case .written: "written"
        case .dropped: "dropped"
        case .evicted(let count, let reason): "evicted \(count): \(reason)"
        case .damaged(_, let damage): "damaged: \(damage)"
        case .failed(_, let error): "failed: \(error.typeName)"
        }
    }
}
