/// Something that happens to a call, whoever hears of it.
enum CallLifecycle: Sendable {
    case made(any CallSource)
    case began
    case retried(attempt: Int)
    case heard
    /// It is about to be told that it was cancelled before it began, which is all that is told of it.
    case turnedAway
    case ended(CallState.Outcome)
}

/// Watches the calls of an integrator, and is told in the turn in which something happens, wherever that is. It has no
/// actor, so that the handlers' order and turns are the same with it as without. An object, so that all handlers are of
/// one small size.
protocol CallObserver: AnyObject, Sendable {
    /// Hears what happens to a call. Called under no lock, and has to be quick.
    func hear(_ event: CallLifecycle, of call: ObjectIdentifier)
}

extension CallExecution {
    /// Tells those who watch.
    @inline(__always)
    func report(_ event: @autoclosure () -> CallLifecycle) {
        if handlers.kinds.contains(.watch) { reportToWatchers(event()) }
    }

    @inline(never)
    private func reportToWatchers(_ event: CallLifecycle) {
        for index in handlers.indices where handlers.kind(at: index) == .watch {
            if case .watch(let watcher) = handlers[index] { watcher.hear(event, of: ObjectIdentifier(self)) }
        }
    }
}
