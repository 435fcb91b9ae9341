/// Reports objects that outlive the part of a test in which they should have been released.
///
/// ```swift
/// try await TestScope.run {
///     let leaks = LeakTracker()
///     let screen = leaks.track(SearchScreen())
///     await screen.search("apple").finish()
/// }
/// ```
///
/// Objects are checked by ``verify()``, and at the end of the ``TestScope`` in which the tracker was made, when the
/// variables of the body are gone. A call holds its handlers until it has ended, so wait for that: with `finish()`, or
/// with a ``ManualClock``. Objects that other threads are about to release get a second at the end of the scope.
public final class LeakTracker: Sendable {
    private struct Tracked: Sendable {
        weak let object: (any AnyObject & Sendable)?
        let name: String
        let place: SourcePlace
        /// True if the leak has been reported.
        var isReported = false
    }

    private let tracked = Observed<[Tracked]>([])
    private let collector = FailureCollector.current

    /// Makes a tracker that reports to the current ``TestScope``.
    public init() {
        collector.atEnd(
            EndCheck(.release) { [tracked] in
                tracked.value.allSatisfy { $0.isReported || $0.object == nil }
            } failures: { [tracked] in
                Self.leaks(of: tracked)
            })
    }

    /// Tracks an object that should be released, without retaining it. Its failure has its name, or else its type.
    ///
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

    /// Records a failure for each object that is still alive, at the line where it was tracked. Each object is reported
    /// once, here or at the end of the scope. This has no grace period: an object that another thread is about to
    /// release counts as alive.
    public func verify() {
        for failure in Self.leaks(of: tracked) { collector.record(failure) }
    }

    private static func leaks(of watched: Observed<[Tracked]>) -> [TestFailure] {
        let tracked = watched.value
        // Outside of the lock: a look retains the object for a moment, and may then release it for the last time.
        let held = tracked.indices.filter { tracked[$0].object != nil }
        let untold = watched.change { tracked in
            defer { for index in held { tracked[index].isReported = true } }
            return held.filter { !tracked[$0].isReported }
        }
        return untold.map { index in
            let entry = tracked[index]
            return TestFailure("Expected \(entry.name) to be released, and something still holds it.", at: entry.place)
        }
    }
}
