/// What happened to a call, in the order of the call contract.
public enum IntegrationEvent<Output: Sendable>: Sendable {
    /// The call has started.
    case began
    /// It has come so far.
    case progressed(IntegrationProgress)
    /// It is tried again: which retry it is, from 1, and the error that led to it.
    case retried(attempt: Int, after: any Error)
    /// A value came.
    case succeeded(Output)
    /// It ended with an error.
    case failed(any Error)
    /// It ended without a result.
    case cancelled(CancelReason)
    /// It had started, and has ended.
    case completed
}
