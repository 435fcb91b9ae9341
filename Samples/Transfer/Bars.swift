import Console
import Foundation
import IDMHTTP

/// A line for each transfer, and one for all of them together.
func bars(_ transfers: [(name: String, state: TransferState?)], together total: TransferProgress) -> [String] {
    transfers.map { bar($0.name, $0.state?.progress, $0.state?.word ?? "") } + [bar("together", total, "")]
}

private func bar(_ name: String, _ progress: TransferProgress?, _ word: String) -> String {
    let fraction = progress?.fraction ?? (progress == nil ? 1 : 0)
    let filled = Int(fraction * 30)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
    let rate = progress?.bytesPerSecond.map { String(format: "%.1f MB/s", $0 / 1e6) } ?? ""
    let left = progress?.timeLeft.map { "\($0.components.seconds) s left" } ?? ""
    let name = name.padding(toLength: 13, withPad: " ", startingAt: 0)
    return [name, bar, "\(Int(fraction * 100)) %", rate, left, word].filter { !$0.isEmpty }.joined(separator: " ")
}

extension TransferState {
    var isFailed: Bool { if case .failed = self { true } else { false } }

    /// The state in words.
    var word: String {
        switch self {
        case .waiting, .running: ""
        case .paused: "paused"
        case .finished(let result): "done, \(result.file?.size ?? 0) bytes"
        case .failed(let error): "failed: \(error.userText)"
        case .cancelled: "cancelled"
        }
    }
}
