internal import Foundation
internal import IDMCore

/// What a center's tasks hold: the book of its transfers, and whatever does what comes out of it.
///
/// What comes out of an event is done outside of the lock, one thing behind the other, in the order in which it came
/// out: by whoever finds that nobody else does.
final class TransferCore: Sendable {
    /// Hears of each state of each transfer, in order, and with nil that one is known no more.
    typealias Watcher = @Sendable (String, TransferState?) -> Void

    /// Changes with anything that does, for those who wait for a transfer that isn't there yet.
    private let changes = LatestValue<Void>(())
    let width: Int
    private let downloads: DownloadProvider
    private let uploads: UploadProvider
    private let archive: TransferArchive?
    private let elapsed: @Sendable () -> Duration
    private let state: Locked<State>

    init(_ downloads: DownloadProvider, _ uploads: UploadProvider, width: Int, archive: TransferArchive?) {
        self.downloads = downloads
        self.uploads = uploads
        self.archive = archive
        elapsed = downloads.service.clock.stopwatch()
        let book = TransferBook(width: width)
        self.width = book.width
        state = Locked(State(book: book, redaction: downloads.service.configuration.redaction))
    }

    // MARK: Asking

    var ids: [String] { state.withLock { $0.book.ids } }

    func state(of id: String) -> TransferState? {
        state.withLock { state in state.book.phase(of: id).flatMap { state.jobs[id]?.state($0) } }
    }

    /// How far these have come together, and whether all of them are over, at one moment. Nil for all that there are.
    ///
    /// - Parameter ids: Each once.
    func group(_ ids: [String]?) -> TransferGroup {
        state.withLock { state in
            let phases = (ids ?? state.book.ids).compactMap { id in state.book.phase(of: id).map { (id, $0) } }
            let shares = phases.compactMap { id, phase in
                state.jobs[id].flatMap { job in job.share(phase).map { (job.mark, $0) } }
            }
            return TransferGroup(
                progress: .sum(of: shares.map(\.1)), members: shares.reduce(0) { $0 ^ $1.0 },
                isOver: phases.allSatisfy { $0.1.isOver })
        }
    }

    /// Whether all of these are over, as far as they are there.
    func isOver(_ ids: [String]) -> Bool {
        state.withLock { state in ids.allSatisfy { state.book.phase(of: $0)?.isOver ?? true } }
    }

    /// What changes whenever one of these does, as long as it is held.
    func changes(of ids: [String]) -> LatestValue<Void> {
        let changes = LatestValue<Void>(())
        let isClosed = state.withLock { state in
            for id in ids where !state.isClosed {
                state.followers[id, default: []].removeAll { $0.changes == nil }
                state.followers[id]?.append(TransferFollower(changes: changes))
            }
            return state.isClosed
        }
        if isClosed { changes.close() }
        return changes
    }

    var clock: any Clock<Duration> { downloads.service.clock }

    /// What tells of a transfer, and how much of that is of before: it may not have been told yet where the transfer
    /// stands.
    func latest(of id: String) -> (LatestValue<TransferState>, past: Int)? {
        state.withLock { state in
            guard state.book.phase(of: id) != nil, let job = state.jobs[id] else { return nil }
            return (job.latest, job.told)
        }
    }

    /// The same, waited for if there is none of this id yet. Nil once the center is closed.
    func nextLatest(of id: String) async -> (LatestValue<TransferState>, past: Int)? {
        var version = 0
        while let (_, next) = await changes.next(after: version), !isClosed {
            if let latest = latest(of: id) { return latest }
            version = next
        }
        return nil
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Shows a watcher where each transfer stands, now and from now on.
    func watch(_ watcher: @escaping Watcher) {
        change { (state: inout State) in
            state.watchers.append(watcher)
            for id in state.book.ids {
                guard let phase = state.book.phase(of: id), let job = state.jobs[id] else { continue }
                state.steps.append(.show(watcher, id, job.state(phase)))
            }
            return []
        }
    }

    /// Waits until everything that was to be done has been, and is on the disk.
    func settle() async {
        await withUnsafeContinuation { waiter in
            work { $0.steps.append(.settle(waiter)) }
        }
    }

    // MARK: Events

    func add(_ id: String, _ work: TransferJob.Work, _ priority: TransferPriority) {
        let work =
            if case .download(let download) = work { TransferJob.Work.download(downloads.named(download)) } else {
                work
            }
        change { state in
            if let before = state.jobs[id] { state.steps.append(.letGo(before)) }
            state.jobs[id, default: TransferJob(work)].ask(for: work, in: state.book.phase(of: id))
            return state.book.add(id, priority)
        }
    }

    /// Takes up what another process has left.
    func find(_ records: [TransferRecord]) async {
        var found: [(record: TransferRecord, phase: TransferBook.Phase, job: TransferJob)] = []
        for record in records {
            var (work, remains) = (record.work, [ServiceDownload]())
            if let download = work.download { work = work.located(as: await downloads.located(download)) }
            for download in record.remains { remains.append(await downloads.located(download)) }
            var job = TransferJob(work)
            var phase = record.isCancelled ? TransferBook.Phase.cancelled : .paused
            if let download = job.download {
                // Also if it was cancelled then: that came too late.
                if let landing = record.landing, let landed = landing.download,
                    let file = await downloads.landed(landed, landing)
                {
                    job.find(file, remains)
                    phase = .finished
                } else {
                    let left = record.owes ? TransferProgress(completed: 0) : await downloads.left(by: download)
                    job.find(left, remains)
                }
            }
            found.append((record, phase, job))
        }
        // All at once: nobody removes what another one goes on with.
        change { state in
            found.flatMap { record, phase, job in
                state.jobs[record.id] = job
                return state.book.find(record.id, phase, record.priority, turn: record.turn, owes: record.owes)
            }
        }
    }

    /// - Parameter keeping: Whether what has come stays. Nil for what the download says.
    func cancel(_ id: String, keeping: Bool?) {
        change { (state: inout State) in state.book.cancel(id, keeping: keeping ?? state.keeps(id)) }
    }

    func remove(_ id: String) {
        change { (state: inout State) in state.book.remove(id, keeping: state.keeps(id)) }
    }

    func change(_ event: (inout TransferBook) -> [TransferBook.Action]) {
        change { (state: inout State) in event(&state.book) }
    }

    /// Ends all of it. Parts stay, and records as well.
    ///
    /// - Returns: What is still to come to its end.
    @discardableResult
    func close() -> [TransferRun] {
        var jobs: [TransferJob] = []
        work { state in
            if !state.isClosed, !state.watchers.isEmpty {
                for id in state.book.ids { state.show(id, nil) }
            }
            state.isClosed = true
            jobs = state.jobs.inOrder
            // Behind what is still to be told: another thread may be about to.
            state.steps += jobs.map { .close($0.latest) }
            state.steps += state.followers.inOrder.joined().compactMap(\.changes).map { .closeGroup($0) }
            state.followers = [:]
        }
        for job in jobs { job.run?.stop() }
        changes.close()
        return jobs.flatMap { [$0.run, $0.removing].compactMap { $0 } }
    }

    /// Returns whether anything comes of it: not once the center is closed.
    @discardableResult
    private func change(_ event: (inout State) -> [TransferBook.Action]) -> Bool {
        let works: Bool? = state.withLock { state in
            guard !state.isClosed else { return nil }
            let actions = event(&state)
            for action in actions {
                if let step = state.step(action) { state.steps.append(step) }
            }
            for id in state.book.takeTouched() {
                state.letKeep(id)
                defer { state.place(id) }
                guard let job = state.jobs[id] else { continue }
                if let phase = state.book.phase(of: id) {
                    state.tell(id, phase)
                } else {
                    state.touch(id)
                    state.show(id, nil)
                    state.steps.append(.close(job.latest))
                    if state.book.entries[id] == nil {
                        state.jobs[id] = nil
                        state.steps.append(.letGo(job))
                    }
                }
            }
            guard !state.isWorking else { return false }
            state.isWorking = true
            return true
        }
        if works == true { work() }
        return works != nil
    }

    // MARK: Work

    /// Changes what is to be done, also once the center is closed, and does it.
    private func work<R>(after change: (inout State) -> R) -> R {
        let (result, works) = state.withLock { state in
            defer { state.isWorking = true }
            return (change(&state), !state.isWorking)
        }
        if works { work() }
        return result
    }

    private func work() {
        while case let steps = state.withLock({ $0.takeStepsOrRest() }), !steps.isEmpty {
            for step in steps { perform(step) }
        }
        changes.set(())
    }

    private func perform(_ step: Step) {
        switch step {
        case .start(let id, let run, let work): start(id, run, work)
        case .hold(let run): run.control.pause()
        case .release(let run): run.control.resume()
        case .stop(let run): run.stop()
        case .discard(let id, let run):
            run.start { [self] in
                await discard(id)
                await end(id, .success(nil))
            }
        case .record(let record): archive?.save(record)
        case .erase(let id): archive?.erase(id)
        case .settle(let waiter): archive?.settle(waiter) ?? waiter.resume()
        case .tell(let latest, let state): latest.set(state)
        case .close(let latest): latest.close()
        case .show(let watcher, let id, let state): watcher(id, state)
        case .touch(let changes): changes.set(())
        case .closeGroup(let changes): changes.close()
        case .letGo: break
        }
    }

    private func start(_ id: String, _ run: TransferRun, _ work: TransferJob.Work) {
        let listener = Listener { [weak self, weak run] progress in
            if let run { self?.hear(id, run, progress) }
        }
        run.start { [self] in
            do {
                let result = try await run.control.bind {
                    try await IntegrationProgress.Reporter(listener).ambient { try await outcome(of: work, id, run) }
                }
                // It may have begun elsewhere, and gone on here.
                await discard(id, but: work)
                await end(id, .success(result))
            } catch {
                await end(id, .failure(error))
            }
        }
    }

    /// Waits until others that are about to leave the place of a transfer are gone.
    private func wait(forThePlaceOf place: ServiceDownload, _ id: String) async throws {
        while let other = state.withLock({ $0.leaving(place, besides: id) }) {
            await other.becomesTrueOrCancelled()
            try Task.checkCancellation()
        }
    }

    /// Removes what a transfer has left, once it is known on the disk that it is to be: a process that ends meanwhile
    /// leaves that to the next one.
    private func discard(_ id: String, but kept: TransferJob.Work? = nil) async {
        guard let (downloads, removal, before) = work(after: { $0.takeRemains(id, but: kept) }) else { return }
        await settle()
        // One after the other: two that look at the same place would each take the other for a download.
        removal.start { [self, provider = self.downloads] in
            await before?.ended()
            for download in downloads { try? await provider.discard(download) }
            // Before it has ended: whoever waits for that looks again at once, and as often as it takes.
            state.withLock { $0.jobs[id]?.hasRemoved() }
        }
        await removal.ended()
    }

    /// Does what is still to be done about one that ended after the center was closed: the book says nothing any more.
    private func endAfterClosing(_ id: String) async {
        guard let entry = state.withLock({ $0.book.entries[id] }) else { return }
        if entry.owes || entry.isUnwanted && !entry.keeps { await discard(id) }
        guard !entry.phase.mayGoOn || entry.isUnwanted else { return }
        // Behind what is still to be written.
        work { $0.steps.append(.erase(id)) }
    }

    private func outcome(of work: TransferJob.Work, _ id: String, _ run: TransferRun) async throws -> TransferResult {
        switch work {
        case .download(let asked):
            var download = await downloads.located(asked)
            state.withLock { $0.locate(id, download) }
            // Whether anything is removed is for the center to say.
            download.onCancel = .keep
            var downloads = downloads
            downloads.tellsFalls = true
            downloads.willOpen = { [self, download] stay in
                try await wait(forThePlaceOf: download, id)
                run.enter(stay)
            }
            downloads.isKept = { [self, download] object in
                state.withLock { $0.isKept(object, where: download, besides: id) }
            }
            downloads.willLand = { [self, download] file, name in
                // One that was cancelled by now has no file, and one that has can't be cancelled any more.
                guard state.withLock({ $0.book.land(id) }) else { throw CancellationError() }
                await note(TransferRecord.Landing(file: file, suggestedName: name, of: download), of: id)
            }
            return .file(try await downloads.request(download))
        case .upload(let request):
            var uploads = uploads
            uploads.tellsFalls = true
            return .response(try await uploads.request(request))
        case .incomplete: throw TransferError.requestNeeded
        }
    }

    /// Writes down which file is about to get its name, and waits until that is on the disk: if the process ends before
    /// anybody hears of it, the next one knows the file.
    private func note(_ landing: TransferRecord.Landing, of id: String) async {
        guard archive != nil else { return }
        await withUnsafeContinuation { waiter in
            work { state in
                if let record = state.land(id, landing) { state.steps.append(.record(record)) }
                state.steps.append(.settle(waiter))
            }
        }
    }

    /// A task has ended. Without a result it was one that has removed something.
    private func end(_ id: String, _ result: Result<TransferResult?, any Error>) async {
        let isTold = change { state in
            let ending: TransferBook.Ending
            switch result {
            case .success: ending = .success
            case .failure(let error): ending = error is CancellationError ? .cancelled : .failure
            }
            if state.book.entries[id]?.run.isAlive == true { state.jobs[id]?.end(result) }
            return state.book.end(id, ending, keeping: state.keeps(id))
        }
        if !isTold { await endAfterClosing(id) }
    }

    private func hear(_ id: String, _ run: TransferRun, _ progress: IntegrationProgress) {
        guard let completed = progress.completed else { return }
        let time = elapsed()
        change { state in
            guard state.book.entries[id]?.run.isAlive == true, state.jobs[id]?.run === run,
                let phase = state.book.phase(of: id)
            else { return [] }
            state.jobs[id]?.hear(completed, of: progress.total, at: time)
            state.tell(id, phase)
            return []
        }
    }

    private final class Listener: ProgressListener {
        private let body: @Sendable (IntegrationProgress) -> Void

        init(_ body: @escaping @Sendable (IntegrationProgress) -> Void) {
            self.body = body
        }

        func hear(_ progress: IntegrationProgress) { body(progress) }
    }
}
