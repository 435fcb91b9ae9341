import Foundation
import TestSupport

extension Operation {
    /// Opens when Foundation says that the operation is finished. To be asked for before a queue has it: Foundation
    /// doesn't guard the block against whoever ends the operation meanwhile.
    func ending() -> Signal {
        let isDone = Signal()
        completionBlock = { isDone.open() }
        return isDone
    }

    /// Waits until the operation is finished.
    func finished() async throws {
        let isDone = Signal()
        // Not by a block of its own: see above.
        Thread.detachNewThread {
            self.waitUntilFinished()
            isDone.open()
        }
        try await isDone.wait()
    }
}
