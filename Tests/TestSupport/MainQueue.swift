import Dispatch

/// Tells whether code runs on the main actor, whichever thread works off its queue, and whatever the runtime takes it
/// for.
package enum MainQueue {
    private static let key = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
