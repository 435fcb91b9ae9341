import Foundation
import IDMHTTP

/// Lines that are drawn in the same place again.
struct Screen {
    let names: [String]
    var above = ""

    mutating func draw(_ states: [TransferState?], _ total: TransferProgress) {
        var text = above
        for (name, state) in zip(names, states) { text += line(name, state?.progress, state?.word ?? "ended") }
        FileHandle.standardOutput.write(Data((text + line("together", total, "")).utf8))
        above = "\u{1B}[\(names.count + 1)A"
    }

    private func line(_ name: String, _ progress: TransferProgress?, _ word: String) -> String {
        let fraction = progress?.fraction ?? (progress == nil ? 1 : 0)
        let filled = Int(fraction * 30)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
        let rate = progress?.bytesPerSecond.map { String(format: "%.1f MB/s", $0 / 1e6) } ?? ""
        let left = progress?.timeLeft.map { "\($0.components.seconds) s left" } ?? ""
        let name = name.padding(toLength: 13, withPad: " ", startingAt: 0)
        return "\(name) \(bar) \(Int(fraction * 100)) %  \(rate) \(left) \(word)\u{1B}[K\n"
    }
}

extension TransferState {
    /// What the state is called.
    var word: String {
        switch self {
        case .waiting, .running: ""
        case .paused: "paused"
        case .finished(let result): "done, \(result.file?.size ?? 0) bytes"
        case .failed(let error): "failed: \(error)"
        case .cancelled: "cancelled"
        }
    }
}
