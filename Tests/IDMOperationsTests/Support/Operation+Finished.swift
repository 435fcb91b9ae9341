import Foundation
import IDMTesting

extension Operation {
    /// Waits until Foundation says that the operation is finished.
    func finished() async throws {
        let isDone = Watched(false)
        completionBlock = { isDone.change { $0 = true } }
        // It may have been finished before it had the block.
        if isFinished { isDone.change { $0 = true } }
        try await isDone.wait { $0 }
    }
}
