/// A part of an app that a ``ServiceRegistry`` keeps, and that has work to stop when it is dropped.
///
/// A service without such work needs no conformance: any Sendable type can be registered.
public protocol AppService: Sendable {
    /// Cancels the work of the service. Called once, on any thread, when its scope is closed: those it was made with
    /// have not been stopped yet.
    func stop()
}
