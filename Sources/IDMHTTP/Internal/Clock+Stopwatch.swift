extension Clock where Duration == Swift.Duration {
    /// What tells the time since now.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
