#if canImport(Darwin)
internal import Dispatch
internal import IDMCore

/// Hears from the system when memory gets short.
final class MemoryPressure: Sendable {
    private let source = Locked<(any DispatchSourceMemoryPressure)?>(nil)

    /// Calls back whenever memory is short. To be called once.
    func whenShort(_ callback: @escaping @Sendable () -> Void) {
        source.withLock { source in
            let pressure = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global())
            pressure.setEventHandler(handler: callback)
            pressure.activate()
            source = pressure
        }
    }

    deinit {
        source.withLock { $0?.cancel() }
    }
}
#else
/// Nobody tells of memory that gets short on this platform.
final class MemoryPressure: Sendable {
    func whenShort(_ callback: @escaping @Sendable () -> Void) {}
}
#endif
