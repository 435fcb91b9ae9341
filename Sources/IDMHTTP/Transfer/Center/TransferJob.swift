internal import IDMCore

/// What a center knows of a transfer beside where it stands: what is to be done, who does it, and who follows it.
struct TransferJob: Sendable {
    /// What is to be done.
    enum Work: Sendable {
        case download(ServiceDownload)
        case upload(ServiceRequest)
        /// A download of which the request isn't known: it held secrets, and was another process's.
        case incomplete(ServiceDownload)

        /// The download, if it is one.
        var download: ServiceDownload? {
            switch self {
            case .download(let download), .incomplete(let download): download
            case .upload: nil
            }
        }

        /// The same, in the folder of another one if it has the place of that.
        func located(as other: ServiceDownload) -> Work {
            switch self {
            case .download(let download): .download(download.located(as: other))
            case .incomplete(let download): .incomplete(download.located(as: other))
            case .upload: self
            }
        }

        /// Whether it goes on with what another one has left.
        func isInPlace(of other: Work) -> Bool {
            download.flatMap { download in other.download?.isInPlace(of: download) } ?? false
        }
    }

    private(set) var work: Work
    /// What was begun last, and how often something had been asked for by then.
    private var begun: (work: Work, number: Int)?
    /// What the progress is of.
    private var counted: Work
    /// Tells it from what the progress of any other transfer is of.
    private(set) var mark = Self.newMark
    /// How often something has been asked for.
    private var number = 0
    /// For those who follow.
    private(set) var latest: LatestValue<TransferState>
    /// How many states they have been told, or are about to be.
    var told = 0
    /// The downloads of which something may have come, each in another place.
    private(set) var traces: [ServiceDownload] = []
    /// What has come of these is just being removed.
    private var removal: (downloads: [ServiceDownload], run: TransferRun)?
    var progress = TransferProgress(completed: 0)
    /// Whether nothing has been heard since the task was started, or let go on.
    var isFresh = true
    var result: Result<TransferResult, any Error>?
    /// The work on it, that of before if there is none now.
    private(set) var run: TransferRun?
    /// The work on removing what has come, that of before if nothing does now.
    var removing: TransferRun?
    /// Which file it is about to become.
    var landing: TransferRecord.Landing?
    private var meter = TransferMeter(interval: .zero)

    init(_ work: Work) {
        self.work = work
        counted = work
        latest = LatestValue(.waiting(progress))
    }

    /// The download, if it is one.
    var download: ServiceDownload? { work.download }

    /// What is to be known after the end of the process: what is to be done, and where others may have left something.
    /// Nil if nothing is to be known.
    var kept: (work: Work, remains: [ServiceDownload])? {
        let others = ((removal?.downloads ?? []) + traces).filter { trace in download?.isInPlace(of: trace) != true }
        if download != nil { return (work, others) }
        // Of an upload nothing goes on, and what a download before it has left is still to be removed.
        return others.first.map { (.download($0), others) }
    }

    /// Where something of it is, or is to be.
    var places: Set<TransferPlace> {
        let downloads = [work.download, begun?.work.download].compactMap { $0 } + traces + (removal?.downloads ?? [])
        return Set(downloads.flatMap(\.places))
    }

    /// Whether something of it is in the way of a download.
    func isInTheWay(of download: ServiceDownload) -> Bool {
        ([begun?.work.download].compactMap { $0 } + traces).contains { $0.isInTheWay(of: download) }
    }

    /// What removes something that is in the way of a download.
    func removal(inTheWayOf download: ServiceDownload) -> TransferRun? {
        removal.flatMap { $0.downloads.contains { $0.isInTheWay(of: download) } ? $0.run : nil }
    }

    /// What those who follow hear in a phase.
    func state(_ phase: TransferBook.Phase) -> TransferState {
        switch (phase, result) {
        case (.waiting, _): .waiting(progress.resting)
        case (.running, _): .running(progress)
        case (.paused, _): .paused(progress.resting)
        case (.finished, .success(let result)): .finished(result)
        case (.failed, .failure(let error)): .failed(error)
        case (.finished, _), (.failed, _), (.cancelled, _): .cancelled
        }
    }

    /// What it adds to the progress of a group. Nil if it doesn't count.
    func share(_ phase: TransferBook.Phase) -> TransferProgress? {
        switch phase {
        case .running: progress
        case .waiting, .paused: progress.resting
        case .finished: TransferProgress(completed: progress.completed, total: progress.total ?? progress.completed)
        case .failed, .cancelled: nil
        }
    }

    mutating func hear(_ completed: Int64, of total: Int64?, at time: Duration) {
        // What is there when it begins, or begins again, has not come just now.
        if isFresh { meter.start(at: completed, time: time) }
        isFresh = false
        if let next = meter.hear(completed: completed, total: total, at: time) { progress = next }
    }

    /// Was begun in another process, and so were others that had its id.
    mutating func find(_ left: TransferProgress, _ remains: [ServiceDownload]) {
        progress = left
        meter.find(left)
        for download in [download].compactMap({ $0 }) + remains { leaveTrace(of: download) }
    }

    /// Has ended already, in another process.
    mutating func find(_ file: DownloadedFile, _ remains: [ServiceDownload]) {
        progress = TransferProgress(completed: file.size, total: file.size)
        result = .success(.file(file))
        for download in remains { leaveTrace(of: download) }
    }

    /// Knows which folder something of it is in.
    mutating func locate(_ download: ServiceDownload) {
        work = work.located(as: download)
        begun = begun.map { ($0.work.located(as: download), $0.number) }
        traces = traces.map { $0.located(as: download) }
    }

    /// Ends, with what has come of it. Without a result nothing has.
    mutating func end(_ result: Result<TransferResult?, any Error>) {
        switch result {
        case .success(let result?): self.result = .success(result)
        case .success(nil): self.result = nil
        case .failure(let error):
            self.result = .failure(error)
            landing = nil
            // Whoever looks at its group next may find it going on again.
            mark = Self.newMark
        }
    }

    mutating func begin(_ run: TransferRun) {
        self.run = run
        isFresh = true
        landing = nil
        result = nil
        if begun?.number != number { count(work) }
        begun = (work, number)
        leaveTrace()
    }

    /// Is asked for again, to do something else perhaps from its next start on. What goes on, goes on from where it is.
    mutating func ask(for work: Work, in phase: TransferBook.Phase?) {
        let goesOn = phase?.mayGoOn ?? false
        self.work = work
        number += 1
        // Who follows one that runs sees that to its end.
        if phase != .running {
            landing = nil
            if goesOn { count(work) } else { reset(to: work) }
        }
        if !goesOn { result = nil }
        // Nobody follows another one that had the id and was forgotten.
        if phase == nil { (latest, told) = (LatestValue(.waiting(progress)), 0) }
    }

    /// Tells the progress of a work from now on.
    private mutating func count(_ work: Work) {
        if !work.isInPlace(of: counted) { reset(to: work) }
    }

    private mutating func reset(to work: Work) {
        counted = work
        mark = Self.newMark
        progress = TransferProgress(completed: 0)
        meter = TransferMeter(interval: .zero)
    }

    /// A number that no other one gets, by all that can be told. Of many of them all bits together are as good.
    private static var newMark: UInt64 { .random(in: .min ... .max) }

    private mutating func leaveTrace() {
        if let download { leaveTrace(of: download) }
    }

    mutating func leaveTrace(of download: ServiceDownload) {
        guard !traces.contains(where: { $0.isInPlace(of: download) }) else { return }
        traces.append(download)
    }

    /// Hands over what is to be removed.
    mutating func takeTraces() -> [ServiceDownload] {
        defer { traces = [] }
        return traces
    }

    /// What is removed, and by whom, until it has been.
    mutating func remove(_ downloads: [ServiceDownload], by run: TransferRun) { removal = (downloads, run) }

    mutating func hasRemoved() { removal = nil }
}

extension TransferProgress {
    /// The same while nothing comes.
    fileprivate var resting: TransferProgress {
        TransferProgress(completed: completed, total: total, bytesPerSecond: nil, least: fraction)
    }
}
