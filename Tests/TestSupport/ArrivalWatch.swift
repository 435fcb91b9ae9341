import Dispatch
import IDMCore
import IDMTesting

/// Records whether resumed tasks of the library report their arrival on the main actor.
package final class ArrivalWatch: WorkWatch {
    private static let mark: DispatchSpecificKey<Bool> = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    private let arrivals = Observed<[Bool]>([])

    package init() {
        _ = Self.mark
        LibraryTask.beginWatching()
    }

    /// For each arrival, whether it was on the main actor.
    package var onMain: [Bool] { arrivals.value }

    package let isWatching = true
    package let ordersWork = false

    package func workArrived() {
        let isOnMain = DispatchQueue.getSpecific(key: Self.mark) == true
        arrivals.change { $0.append(isOnMain) }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Task { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    package func stir() {}
    package func workDeparts() {}
    package func workStarts(on actor: any Actor) {}
}
