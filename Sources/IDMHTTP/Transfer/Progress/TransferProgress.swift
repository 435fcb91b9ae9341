internal import IDMCore

/// How far a transfer has come.
///
/// Bytes and fraction never go backwards: one that has to start anew stays where it was until it has caught up.
public struct TransferProgress: Sendable, Hashable {
    /// How many bytes have come or gone.
    public let completed: Int64
    /// How many bytes there are in all. Nil if nobody knows.
    public let total: Int64?
    /// How much is done, from 0 to 1. Nil while the total isn't known: of several transfers, while none of theirs is.
    public let fraction: Double?
    /// How many bytes come or go in a second, by the last few seconds. Nil as long as that can't be told.
    public let bytesPerSecond: Double?
    /// How long the rest will take at this rate. Nil if the rest or the rate isn't known, and where nothing comes or
    /// goes.
    public let timeLeft: Duration?

    /// Makes a progress. Whatever can't be meant is moved to the nearest that can.
    public init(completed: Int64, total: Int64? = nil, bytesPerSecond: Double? = nil) {
        self.init(completed: completed, total: total, bytesPerSecond: bytesPerSecond, least: nil)
    }

    /// - Parameters:
    ///   - counted: How many bytes have come or gone since it began anew. Nil if it didn't.
    ///   - least: What the fraction isn't to fall below.
    init(completed: Int64, counted: Int64? = nil, total: Int64?, bytesPerSecond: Double?, least: Double?) {
        let completed = max(completed, 0)
        self.completed = completed
        let total = total.map { max($0, completed) }
        self.total = total
        let fraction = total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
        self.fraction = fraction.map { max($0, least ?? 0) } ?? least
        let rate = bytesPerSecond.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        self.bytesPerSecond = rate
        if let rate, rate > 0, let total {
            // As far ahead as anybody plans.
            timeLeft = .seconds(min(Double(total - min(max(counted ?? completed, 0), completed)) / rate, 3_155_760_000))
        } else {
            timeLeft = nil
        }
    }
}

extension TransferProgress {
    /// How many bytes have come or gone since it began anew, as far as its time tells: all, if it didn't.
    var counted: Int64 {
        guard let total, let timeLeft, let bytesPerSecond else { return completed }
        let rest = Int64(exactly: (timeLeft / .seconds(1) * bytesPerSecond).rounded()) ?? 0
        return max(min(total - rest, completed), 0)
    }

    /// What several transfers have done together. The total is known once all of theirs are; the fraction is that of
    /// the bytes then, and otherwise the mean.
    static func sum(of parts: [TransferProgress]) -> TransferProgress {
        let totals = parts.compactMap(\.total)
        let rates = parts.compactMap(\.bytesPerSecond)
        let isKnown = totals.count == parts.count && !parts.isEmpty
        let mean = totals.isEmpty ? nil : parts.map { $0.fraction ?? 0 }.reduce(0, +) / Double(parts.count)
        return TransferProgress(
            completed: parts.reduce(0) { $0.addingSaturating($1.completed) },
            counted: parts.reduce(0) { $0.addingSaturating($1.counted) },
            total: isKnown ? totals.reduce(0) { $0.addingSaturating($1) } : nil,
            bytesPerSecond: rates.isEmpty ? nil : rates.reduce(0, +), least: isKnown ? nil : mean)
    }
}
