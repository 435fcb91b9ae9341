import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct DeferredReleaseTests {
    private let log = Log()

    /// Releases an object that logs its name when it is released.
    private static func release(_ name: String, in log: Log) {
        var object: DeinitObserver? = DeinitObserver { log.add(name) }
        DeferredRelease.release(&object)
        log.add("after \(name)")
    }

    @Test func `an object released during a release is released next`() {
        var first: DeinitObserver? = DeinitObserver { [log] in
            Self.release("second", in: log)
            log.add("first")
        }
        DeferredRelease.release(&first)

        #expect(first == nil)
        #expect(log.entries == ["after second", "first", "second"])
    }

    /// The code that releases an object in a task which was started during the release of the first one.
    enum Releasing: CaseIterable { case taskOfTheLibrary, taskThatEndsLater }

    @Test(arguments: Releasing.allCases)
    func `a task started during a release releases its own objects at once`(releasing: Releasing) async {
        let (isOver, started) = (Signal(), Observed<Task<Void, Never>?>(nil))
        var first: DeinitObserver? = DeinitObserver { [log] in
            let task =
                switch releasing {
                // Runs here and now where the platform can.
                case .taskOfTheLibrary: LibraryTask.start(isolation: nil) { _ in Self.release("object", in: log) }
                case .taskThatEndsLater:
                    Task {
                        await isOver.waitIgnoringCancel()
                        Self.release("object", in: log)
                    }
                }
            started.change { $0 = task }
        }
        DeferredRelease.release(&first)
        isOver.open()
        await started.value?.value

        #expect(log.entries == ["object", "after object"])
    }

    @Test func `a release that has ended takes no object`() {
        let release = DeferredRelease()
        var last: DeinitObserver? = DeinitObserver { [log] in log.add("last") }
        var late: DeinitObserver? = DeinitObserver {}
        let steps = [
            release.take(&last), last == nil && log.count == 0, release.releaseNext(), log.count == 1,
            !release.releaseNext(), !release.take(&late), late != nil,
        ]

        #expect(steps == Array(repeating: true, count: 7))
    }
}
