import Foundation
public import IDMCore

/// An operation around a call: makes it when its turn has come, and is finished when the call has ended, its handlers
/// have run, and so has what is chained to it.
///
/// ```swift
/// let search = IntegrationOperation(users.prepareCall("apple").onSuccess { users in list.show(users) })
/// queue.addOperation(search)
/// ```
///
/// The call goes by the executing type of its integrator, within the bounds of the queue. Handlers that are added to
/// the operation run after the call's own.
public final class IntegrationOperation<Output: Sendable>: ResultOperation<Output>, @unchecked Sendable {
    // Unchecked as its superclass is: it adds no state.

    /// Makes an operation around a call.
    public override init(_ call: IntegrationCall<Output>) {
        super.init(call)
    }
}
