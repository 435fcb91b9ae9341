public import Synchronization

/// A value behind a lock: a `Mutex` that is never compiled into the function that asks for it.
///
/// On Linux the optimizer takes the place of a thread's number to be the same before and after an `await`. An async
/// function into which both a lock before and one after it are compiled locks in the name of another thread, and the
/// process ends as it unlocks (Swift 6.3).
@usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline
    let mutex: Mutex<Value>

    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Does something with the value, which is this thread's alone meanwhile.
    @inlinable
    @inline(never)
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
}
