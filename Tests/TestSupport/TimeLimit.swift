package import Testing

extension TimeLimitTrait.Duration {
    /// The limit of a test. It is there for what hangs. All tests start at once, so each may last as long as all of
    /// them together, beside another copy of them and on a busy machine.
    package static var ample: Self { .minutes(Volume.isFull ? 60 : 10) }
}
