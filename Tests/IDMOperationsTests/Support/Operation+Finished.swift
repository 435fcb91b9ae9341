import Foundation
import IDMTesting
import TestSupport

extension Operation {
    /// Opens when Foundation says that the operation is finished. To be asked for before a queue has it: Foundation
    /// doesn't guard the block against whoever ends the operation meanwhile.
    func ending() -> Signal {
        let isDone = Signal()
        completionBlock = { isDone.open() }
        return isDone
    }

    /// Waits until Foundation says that the operation is finished.
    func finished() async throws {
        let isDone = Watched(false)
        completionBlock = { isDone.change { $0 = true } }
        // It may have been finished before it had the block.
        if isFinished { isDone.change { $0 = true } }
        try await isDone.wait { $0 }
    }
}
