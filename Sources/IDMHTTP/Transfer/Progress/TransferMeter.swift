/// Makes progress of counts: never backwards, not too often, with a rate over the last few seconds. It is told the
/// time.
struct TransferMeter: Sendable {
    private struct Mark {
        let time: Duration
        let completed: Int64
    }

    /// How much time is at least between two reports.
    let interval: Duration
    /// How far back the rate looks.
    let window: Duration

    /// What was counted, of which the first is how the window begins.
    private var marks: [Mark] = []
    /// What has been told, or kept back.
    private var latest: TransferProgress?
    private var lastTold: Duration?
    private var isKeptBack = false

    init(interval: Duration = .milliseconds(100), window: Duration = .seconds(5)) {
        self.interval = interval
        self.window = window
    }

    /// What was counted last: less than was told, if it began anew.
    var count: Int64 { marks.last?.completed ?? 0 }

    /// Goes on from what others have told.
    mutating func find(_ progress: TransferProgress) { latest = progress }

    /// Begins to count, or begins again: what is there already has not come just now.
    mutating func start(at completed: Int64, time: Duration) {
        marks = [Mark(time: time, completed: completed)]
    }

    /// Takes a count. Returns what is to be told, or nil if it is too soon.
    mutating func hear(completed: Int64, total: Int64?, at time: Duration) -> TransferProgress? {
        mark(Mark(time: time, completed: completed))
        let progress = TransferProgress(
            completed: max(completed, latest?.completed ?? 0), counted: completed, total: total, bytesPerSecond: rate,
            least: latest?.fraction)
        latest = progress
        if let lastTold, time - lastTold < interval {
            isKeptBack = true
            return nil
        }
        lastTold = time
        isKeptBack = false
        return progress
    }

    /// When what is kept back may be told. Nil if nothing is.
    var due: Duration? { isKeptBack ? lastTold.map { $0 + interval } : nil }

    /// What was kept back, once it isn't too soon any more.
    mutating func flushIfDue(at time: Duration) -> TransferProgress? {
        guard let due, due <= time else { return nil }
        lastTold = time
        return flush()
    }

    /// What was kept back last: to be told before the end.
    mutating func flush() -> TransferProgress? {
        guard isKeptBack else { return nil }
        isKeptBack = false
        return latest
    }

    private mutating func mark(_ mark: Mark) {
        // A count that falls is that of a transfer which starts anew.
        if let last = marks.last, mark.completed < last.completed || mark.time < last.time { marks = [] }
        // One for each tenth of the window is enough. The last one is replaced until it is so far from the one before.
        if marks.count >= 2, marks[marks.count - 1].time - marks[marks.count - 2].time < window / 10 {
            marks.removeLast()
        }
        marks.append(mark)
        // The first that stays is the last one before the window, so that the window is always full.
        while marks.count > 2, mark.time - marks[1].time >= window { marks.removeFirst() }
    }

    /// Bytes a second, from the first mark to the last. A tenth of the window is the least that says anything.
    private var rate: Double? {
        guard let first = marks.first, let last = marks.last, last.time - first.time >= window / 10 else { return nil }
        return Double(last.completed - first.completed) / ((last.time - first.time) / .seconds(1))
    }
}
