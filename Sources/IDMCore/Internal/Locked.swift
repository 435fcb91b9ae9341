public import Synchronization

/// A value behind a `Mutex` whose lock is never inlined.
///
/// On Linux the optimizer assumes that the address of the thread's identifier is the same before and after an `await`.
/// An async function with an inlined lock on both sides of an `await` locks in the name of another thread, and the
/// process ends when it unlocks (Swift 6.3).
@usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline
    let mutex: Mutex<Value>

    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Calls `body` with exclusive access to the value.
    @inlinable
    @inline(never)
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
}
