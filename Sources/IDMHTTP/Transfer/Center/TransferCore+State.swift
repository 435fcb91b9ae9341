internal import IDMCore

extension TransferCore {
    /// What is to be done, with all that is needed for it: by the time that it is done another transfer may have the
    /// id.
    enum Step: Sendable {
        case start(String, TransferRun, TransferJob.Work)
        case hold(TransferRun)
        case release(TransferRun)
        case stop(TransferRun)
        case discard(String, TransferRun)
        case record(TransferRecord)
        case erase(String)
        /// Somebody waits until everything before is on the disk.
        case settle(UnsafeContinuation<Void, Never>)
        case tell(LatestValue<TransferState>, TransferState)
        case close(LatestValue<TransferState>)
        case show(Watcher, String, TransferState?)
        case touch(LatestValue<Void>)
        case closeGroup(LatestValue<Void>)
        /// Nothing but that: what the user wrote may be in it, and goes where no lock is held.
        case letGo(TransferJob)
    }

    /// Somebody who follows a group, as long as that is held.
    struct TransferFollower: Sendable {
        weak let changes: LatestValue<Void>?
    }

    /// What a center knows, and what is still to be done.
    struct State {
        var book: TransferBook
        let redaction: ServiceRedaction
        var jobs: [String: TransferJob] = [:]
        /// Where each has something, and where it had something not long ago.
        var places = TransferPlaces()
        var steps: [Step] = []
        /// What removes something, or did so last.
        var removal: TransferRun?
        var watchers: [Watcher] = []
        /// Those who follow groups, by the transfers in them.
        var followers: [String: [TransferFollower]] = [:]
        var isWorking = false
        var isClosed = false

        /// Hands over what is to be done. If that is nothing, nobody works any more.
        mutating func takeStepsOrRest() -> [Step] {
            defer { steps = [] }
            isWorking = !steps.isEmpty
            return steps
        }

        /// Shows the watchers where a transfer stands, before anybody else hears of it.
        mutating func show(_ id: String, _ state: TransferState?) {
            for watcher in watchers { steps.append(.show(watcher, id, state)) }
        }

        /// Lets those who follow groups of a transfer look at them.
        mutating func touch(_ id: String) {
            let found = (followers[id] ?? []).compactMap(\.changes)
            followers[id] = found.isEmpty ? nil : found.map { TransferFollower(changes: $0) }
            for changes in found { steps.append(.touch(changes)) }
        }

        /// Tells everybody where a transfer stands.
        mutating func tell(_ id: String, _ phase: TransferBook.Phase) {
            touch(id)
            guard let job = jobs[id] else { return }
            show(id, job.state(phase))
            steps.append(.tell(job.latest, job.state(phase)))
            jobs[id]?.told += 1
        }

        /// Changes what is known of a transfer, and lets go elsewhere of what isn't any more.
        mutating func change(_ id: String, _ change: (inout TransferJob) -> Void) {
            guard var job = jobs[id] else { return }
            steps.append(.letGo(job))
            change(&job)
            jobs[id] = job
        }

        /// What an action of the book asks for.
        mutating func step(_ action: TransferBook.Action) -> Step? {
            switch action {
            case .start(let id):
                guard let work = jobs[id]?.work else { return nil }
                let run = TransferRun()
                change(id) { $0.begin(run) }
                return .start(id, run, work)
            case .hold(let id): return (jobs[id]?.run).map { .hold($0) }
            case .release(let id):
                jobs[id]?.isFresh = true
                return (jobs[id]?.run).map { .release($0) }
            case .stop(let id): return (jobs[id]?.run).map { .stop($0) }
            case .discard(let id):
                let run = TransferRun()
                jobs[id]?.removing = run
                return .discard(id, run)
            // What leaves no record leaves none of before either.
            case .record(let id): return record(id).map { .record($0) } ?? .erase(id)
            case .erase(let id): return .erase(id)
            }
        }

        /// What is kept of a transfer. Nil if nothing is.
        func record(_ id: String) -> TransferRecord? {
            guard let kept = jobs[id]?.kept, let entry = book.entries[id] else { return nil }
            let isCancelled = entry.phase == .cancelled || entry.isUnwanted || jobs[id]?.download == nil
            guard !isCancelled || !entry.keeps else { return nil }
            return TransferRecord(
                id, kept.work, entry.priority, turn: entry.turn, isCancelled: isCancelled, owes: entry.owes,
                landing: entry.isLeaving ? nil : jobs[id]?.landing, remains: kept.remains, redaction: redaction)
        }

        /// Knows which file is about to get its name, and hands over what is to be kept of that: nothing if it was
        /// stopped in the meantime, and its id may be another one's.
        mutating func land(_ id: String, _ landing: TransferRecord.Landing) -> TransferRecord? {
            guard book.entries[id]?.run == .landing else { return nil }
            jobs[id]?.landing = landing
            return record(id)
        }

        /// Knows which folder a transfer works in: before it has anything there, since others may call it by another
        /// name.
        mutating func locate(_ id: String, _ download: ServiceDownload) {
            jobs[id]?.locate(download)
            place(id)
        }

        /// Knows where a transfer has something now.
        mutating func place(_ id: String) { places.set(id, jobs[id]?.places ?? []) }

        /// Whether what has come of a transfer stays when nobody says anything about it.
        func keeps(_ id: String) -> Bool { jobs[id]?.download?.onCancel == .keep }

        /// What a cancelled transfer has left isn't to be removed any more, if it is to be kept.
        mutating func letKeep(_ id: String) {
            guard let entry = book.entries[id], entry.keeps, entry.phase == .cancelled else { return }
            change(id) { _ = $0.takeTraces() }
        }

        /// What is to be removed of a transfer, and by whom, and whom that has to wait for: not what another one goes
        /// on with, who has to remove it then. Nil if there is nothing. To be told when it has been.
        mutating func takeRemains(
            _ id: String, but kept: TransferJob.Work?
        ) -> (downloads: [ServiceDownload], run: TransferRun, before: TransferRun?)? {
            var traces: [ServiceDownload] = []
            change(id) { traces = $0.takeTraces() }
            let remains = traces.filter { trace in
                guard kept?.download?.isInPlace(of: trace) != true else { return false }
                let other = keepers(of: trace, besides: id).first { other in
                    guard let job = jobs[other] else { return false }
                    return ([job.download].compactMap { $0 } + job.traces).contains { $0.isInPlace(of: trace) }
                }
                if let other { jobs[other]?.leaveTrace(of: trace) }
                return other == nil
            }
            guard !remains.isEmpty else { return nil }
            let (run, before) = (TransferRun(), removal)
            removal = run
            jobs[id]?.remove(remains, by: run)
            return (remains, run, before)
        }

        /// The other transfers that may go on with what they have in a place.
        private func keepers(of place: ServiceDownload, besides id: String) -> some Sequence<String> {
            places.ids(in: place.places).lazy.filter { other in
                other != id && book.phase(of: other)?.mayGoOn == true && book.entries[other]?.owes == false
            }
        }

        /// Whether another transfer may go on with what there is of an object where a download has its part.
        func isKept(_ object: String, where place: ServiceDownload, besides id: String) -> Bool {
            keepers(of: place, besides: id).contains { other in
                // Not with what is there of something that had its id before.
                guard let job = jobs[other], let own = job.download, own.object == object, own.isInTheWay(of: place)
                else { return false }
                return job.traces.contains { own.isInPlace(of: $0) }
            }
        }

        /// What becomes true as soon as another transfer has left the place of a download, if one is about to do so: a
        /// task that was stopped or held, or what removes something there.
        func leaving(_ place: ServiceDownload, besides id: String) -> LatestValue<Bool>? {
            for other in places.ids(in: place.places) where other != id {
                guard let job = jobs[other], let entry = book.entries[other] else { continue }
                if let removal = job.removal(inTheWayOf: place) { return removal.hasEnded }
                guard job.isInTheWay(of: place) else { continue }
                switch entry.run {
                case .alive, .landing: if let leaving = job.run?.leaving { return leaving }
                case .ending: return job.run?.hasEnded
                case .discarding: return job.removing?.hasEnded
                case .none: break
                }
            }
            return nil
        }
    }
}
