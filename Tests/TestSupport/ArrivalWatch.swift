import Dispatch
import IDMCore
import IDMTesting

/// Records whether resumed tasks of the library report their arrival on the main actor.
package final class ArrivalWatch: ActivityTracker {
    private static let mark: DispatchSpecificKey<Bool> = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    private let arrivals = Observed<[Bool]>([])

    package init() {
        _ = Self.mark
        LibraryTask.beginTracking()
    }

    /// For each arrival, whether it was on the main actor.
    package var onMain: [Bool] { arrivals.value }

    package let isTracking = true
    package let ordersWork = false

    package func endActivity() {
        let isOnMain = DispatchQueue.getSpecific(key: Self.mark) == true
        arrivals.change { $0.append(isOnMain) }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Task { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    package func noteActivity() {}
    package func beginActivity() {}
    package func activityStarts(on actor: any Actor) {}
}
