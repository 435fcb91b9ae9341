import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("What may stand in a chain", .timeLimit(.ample))
struct UnlinkingTests {
    @Test("goes before whoever lets go of it goes on, and then what it has let go of")
    func order() {
        let log = Log()
        var first: DeinitObserver? = DeinitObserver {
            var second: DeinitObserver? = DeinitObserver { log.add("second") }
            DeferredRelease.release(&second)
            #expect(second == nil)
            log.add("first")
        }
        DeferredRelease.release(&first)
        log.add("after")
        #expect(first == nil)
        #expect(log.entries == ["first", "second", "after"])
    }

    @Test("goes at once also where a task lets go of it that was started on the way, when all is over")
    func late() async {
        let (log, isOver) = (Log(), Signal())
        let started = Observed<Task<Void, Never>?>(nil)
        var first: DeinitObserver? = DeinitObserver {
            let task = Task {
                await isOver.waitIgnoringCancel()
                var late: DeinitObserver? = DeinitObserver { log.add("late") }
                DeferredRelease.release(&late)
                log.add("after")
            }
            started.change { $0 = task }
        }
        DeferredRelease.release(&first)
        isOver.open()
        await started.value?.value
        #expect(log.entries == ["late", "after"])
    }

    @Test("goes at once also where another task lets go of it meanwhile")
    func otherTask() async {
        let (log, started) = (Log(), Observed<Task<Void, Never>?>(nil))
        var first: DeinitObserver? = DeinitObserver {
            // Runs here and now where the platform can.
            let task = LibraryTask.start(isolation: nil) { _ in
                var other: DeinitObserver? = DeinitObserver { log.add("other") }
                DeferredRelease.release(&other)
                log.add("after")
            }
            started.change { $0 = task }
        }
        DeferredRelease.release(&first)
        await started.value?.value
        #expect(log.entries == ["other", "after"])
    }

    @Test("isn't taken over when all is over")
    func over() {
        let (log, unlinking) = (Log(), DeferredRelease())
        var last: DeinitObserver? = DeinitObserver { log.add("last") }
        #expect(unlinking.take(&last))
        #expect(last == nil)
        #expect(log.entries == [])
        #expect(unlinking.releaseNext())
        #expect(log.entries == ["last"])
        #expect(!unlinking.releaseNext())
        var late: DeinitObserver? = DeinitObserver { log.add("late") }
        #expect(!unlinking.take(&late))
        #expect(late != nil)
    }
}
