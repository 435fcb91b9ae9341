/// A part of an app that a ``ServiceRegistry`` keeps, and that has work to stop when it is dropped: a class or an
/// actor.
///
/// A service without such work needs no conformance: any Sendable type can be registered.
public protocol AppService: AnyObject, Sendable {
    /// Cancels the work of the service. Called on any thread, once when the scope that it was made in is closed: the
    /// last one where several give it out, and again where one gives it out after that. What it has got from that scope
    /// as it was made has not been stopped yet; what it has got from one that it opened itself has.
    func stop()
}
