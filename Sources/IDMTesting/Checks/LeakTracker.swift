/// Fails if an object is still there when it should have gone.
///
/// ```swift
/// try await TestScope.run {
///     let leaks = LeakTracker()
///     let screen = leaks.track(SearchScreen())
///     await screen.search("apple").finish()
/// }
/// ```
///
/// What is tracked is looked at by ``verify()``, and at the end of the ``TestScope`` in which the tracker was made,
/// when the variables of the body are gone. A run of a call holds its handlers until it has ended, so wait for that:
/// with `finish()`, or with a ``ManualClock``. Who waits for the end of something may hear of it a moment before all is
/// let go that it has held, on another thread: the end of the scope gives that time. A ``LoopbackServer`` holds its
/// routes until it has stopped: wait for its `stop()`, or use its `run`. Until the end the scope itself keeps what
/// recorders have heard, and the routes of transports; what is tracked is looked at when those have gone.
public final class LeakTracker: Sendable {
    private struct Tracked: Sendable {
        weak let object: (any AnyObject & Sendable)?
        let name: String
        let place: SourcePlace
        /// Whether it has been told that it is still there.
        var isTold = false
    }

    private let tracked = Watched<[Tracked]>([])
    private let ledger: FailureLedger

    /// Makes a tracker that reports to the current ``TestScope``.
    public init() {
        ledger = .current
        ledger.atEnd(.leak) { [tracked] in
            tracked.value.allSatisfy { $0.isTold || $0.object == nil }
        } _: { [tracked] in
            Self.leaks(of: tracked)
        }
    }

    /// Takes note of an object, which is only held weakly.
    ///
    /// - Parameters:
    ///   - object: What has to go.
    ///   - name: What the failure calls it. Its type, if nothing is given.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Returns: The object.
    @discardableResult
    public func track<Object: AnyObject & Sendable>(
        _ object: Object, as name: String? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) -> Object {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        let entry = Tracked(object: object, name: name ?? "\(Object.self)", place: place)
        tracked.change { $0.append(entry) }
        return object
    }

    /// Fails for each object that is still there, at the line where it was tracked. Each is told once, here or at the
    /// end of the scope. Looks once: what is on its way out on another thread, as what a call has held that has just
    /// ended, may be taken for held. The end of a scope gives that a second to go, unless it is the end of one that
    /// doesn't suspend in a task.
    public func verify() {
        for failure in Self.leaks(of: tracked) { ledger.record(failure) }
    }

    private static func leaks(of watched: Watched<[Tracked]>) -> [TestFailure] {
        let tracked = watched.value
        // Looked at outside of the lock: who looks holds an object for a moment, and may be the last who does.
        let held = tracked.indices.filter { tracked[$0].object != nil }
        let untold = watched.change { tracked in
            defer { for index in held { tracked[index].isTold = true } }
            return held.filter { !tracked[$0].isTold }
        }
        return untold.map { index in
            let entry = tracked[index]
            return TestFailure("Expected \(entry.name) to be released, and something still holds it.", at: entry.place)
        }
    }
}
