public import Foundation
internal import IDMCore
internal import Synchronization

/// Many downloads and uploads, each known by an id: so many at once, the others in line, all of them to be paused,
/// resumed, cancelled and watched from anywhere.
///
/// ```swift
/// let center = try await TransferCenter(service, folder: records)
/// center.download(ServiceDownload(ServiceRequest(.get, "/maps/europe"), to: .folder(maps)), id: "europe")
/// for await state in center.states(of: "europe") { show(state) }
/// ```
///
/// - Every function may be called at any moment, from any thread, and any number of times: what has no sense where a
///   transfer stands does nothing. ``state(of:)`` tells what came of it as soon as a function returns; bytes stop soon
///   after.
/// - A transfer runs when fewer than ``width`` do, and no other one that waits has a higher priority or has waited
///   longer. A paused one has no place among them, and waits again when it is resumed.
/// - With a folder, downloads outlive the process: those that weren't done are there again, paused, at the next start,
///   and one whose file was in its place before anybody could be told is there as finished. Uploads don't, for what
///   they send may be gone. Secrets and bodies aren't kept: a download whose request holds any is there again as well,
///   and fails with ``TransferError/requestNeeded`` unless it is asked for anew under its id.
/// - Of those that share a place on the disk, by whatever names of its folder, one works there at a time. A new one
///   waits for those that are just being paused, cancelled or removed, until the deadline of its request at most, and
///   goes on with what they leave it. Beside one that runs it fails with ``TransferError/inUse(_:)``, and so it does
///   beside one that may go on, as a paused one, with what it has there of another object.
///
/// When nobody holds a center any more its transfers end soon, and keep what has come; ``close()`` waits for that.
public final class TransferCenter: Sendable {
    /// How many transfers run at once.
    ///
    /// Those that find no connection to their host wait for one as they run: ``URLSessionTransport`` has six, unless
    /// you say otherwise.
    public let width: Int
    private let core: TransferCore

    /// Makes a center whose transfers end with the process.
    public convenience init(_ service: HTTPService, width: Int = 4) {
        self.init(TransferCore(DownloadProvider(service), UploadProvider(service), width: width, archive: nil))
    }

    /// Makes a center whose downloads outlive the process, and finds those that were not done. Records that can't be
    /// read are left out.
    ///
    /// - Parameters:
    ///   - service: What transfers are made with.
    ///   - folder: Where the center keeps its records, and nobody else anything. Made if it isn't there. Downloads
    ///     move with it: where it has another path than before, as after an update of an app on iOS, those go on where
    ///     they have moved to whose place was in one folder with it, at any depth, save the root. One that has left
    ///     nothing there, and something where it was asked for, goes on where it was; so does one that has left
    ///     nothing, if there is no folder for it there.
    ///   - width: How many transfers run at once.
    /// - Throws: ``TransferError`` if the folder can't be used.
    public convenience init(_ service: HTTPService, folder: URL, width: Int = 4) async throws {
        let archive = try TransferArchive(folder)
        let core = TransferCore(DownloadProvider(service), UploadProvider(service), width: width, archive: archive)
        await core.find(try await archive.records())
        self.init(core)
    }

    init(_ core: TransferCore) {
        self.core = core
        width = core.width
    }

    deinit { core.close() }

    // MARK: Transfers

    /// Downloads something. The id of a transfer that is there already takes this request from its next start on: one
    /// that is paused or has failed goes on, one that is done or was cancelled begins anew. One that runs, and comes to
    /// its end well, is done with what it was asked before; so is one that was paused as its file got its name. A
    /// paused one that can't be gone on with is made again: where that does harm, ``resume(_:)`` it.
    ///
    /// - Returns: The id.
    @discardableResult
    public func download(
        _ download: ServiceDownload, id: String = UUID().uuidString, priority: TransferPriority = .normal
    ) -> String {
        core.add(id, .download(download), priority)
        return id
    }

    /// Uploads what a request carries. For an id that is there already, see ``download(_:id:priority:)``.
    ///
    /// - Returns: The id.
    @discardableResult
    public func upload(
        _ request: ServiceRequest, id: String = UUID().uuidString, priority: TransferPriority = .normal
    ) -> String {
        core.add(id, .upload(request), priority)
        return id
    }

    /// The ids of all transfers, in the order in which they got into the line.
    public var ids: [String] { core.ids }

    /// Pauses a transfer that waits or runs, and gives its turn to another one.
    ///
    /// A pause ends the connection. Resumed, a download goes on with its part, and an upload begins anew.
    ///
    /// A request that may not be made twice, such as a POST without an idempotency key, isn't ended once its body has
    /// begun to go, for nobody can know what has arrived. What a pause stops then depends on the transport:
    ///
    /// - One that reads the body piece by piece reads no further: the upload stands still where it is. Resumed, it goes
    ///   on over the same connection, and fails if the server has given up by then.
    /// - ``URLSessionTransport`` can't stop a body that has begun to go: the upload goes to its end. A stream and a
    ///   multipart body are put together first, and only that stops. See <doc:WritingATransport>.
    ///
    /// An upload whose whole body has gone waits for its answer, and is finished or fails while it is paused. A
    /// download by such a request is read no further until it is resumed. No silence counts in a pause, but a deadline
    /// goes by.
    public func pause(_ id: String) { core.change { $0.pause(id) } }

    /// Resumes a transfer that is paused or has failed.
    public func resume(_ id: String) { core.change { $0.resume(id) } }

    /// Cancels a transfer that isn't done, and removes what has come of a download, unless that is to be kept: also if
    /// the process ends before, by the next one. A part that another transfer of the center goes on with stays.
    ///
    /// A file that is just being put into its place isn't stopped there. The transfer is finished then, and cancelled
    /// if that fails.
    ///
    /// - Parameters:
    ///   - id: The id of the transfer.
    ///   - keepingPart: Whether the part of a download stays. Nil for what the download's ``ServiceDownload/onCancel``
    ///     says.
    public func cancel(_ id: String, keepingPart: Bool? = nil) { core.cancel(id, keeping: keepingPart) }

    /// Cancels a transfer that isn't done, and forgets it. What has come of a download is removed, unless its
    /// ``ServiceDownload/onCancel`` says otherwise.
    public func remove(_ id: String) { core.remove(id) }

    /// Gives a transfer another priority. One that runs isn't stopped by that.
    public func setPriority(_ priority: TransferPriority, of id: String) { core.change { $0.prioritize(id, priority) } }

    /// Pauses all that wait or run. See ``pause(_:)`` for what can't be ended.
    public func pauseAll() { core.change { $0.pauseAll() } }

    /// Resumes all that are paused.
    public func resumeAll() { core.change { $0.resumeAll() } }

    // MARK: Watching

    /// Where a transfer stands now. Nil if there is none of this id.
    public func state(of id: String) -> TransferState? { core.state(of: id) }

    /// Where a transfer stands, now and whenever that changes, until it is over. Any number may follow it; who is slow
    /// hears the latest state, and everybody hears the last. Empty if there is none of this id.
    public func states(of id: String) -> TransferStates {
        TransferStates(following: core.latest(of: id), isEndless: false)
    }

    /// Each transfer that has an id, one after the other. Holds no center.
    func lives(of id: String) -> TransferLives { TransferLives(core, id) }

    /// Waits until a transfer is over, and answers with what has come of it.
    ///
    /// - Throws: What the transfer failed with, and a `CancellationError` if it was cancelled, forgotten or never
    ///   there, or if the task that waits is cancelled.
    public func result(of id: String) async throws -> TransferResult {
        for await state in states(of: id) {
            switch state {
            case .finished(let result): return result
            case .failed(let error): throw error
            case .cancelled: throw CancellationError()
            case .waiting, .running, .paused: continue
            }
        }
        throw CancellationError()
    }

    /// How far several transfers have come together: those of these ids, each once, or all. Those that have failed or
    /// were cancelled don't count, and neither do ids that aren't there. As long as not all totals are known, the
    /// fraction is the mean of theirs; it is nil where none counts.
    public func progress(of ids: [String]? = nil) -> TransferProgress {
        core.group(ids?.eachOnce).progress
    }

    /// How far several transfers have come together, now and whenever that changes, until all of them that are there
    /// are over. No more than ten of them are told in a second, by the service's clock, and the last one at once.
    ///
    /// No fraction is less than the one before, as long as the same transfers count. When one of them fails, is
    /// cancelled or goes on after that, or when something else is asked for under its id, those who follow hear what
    /// ``progress(of:)`` tells then.
    public func progresses(of ids: [String]) -> TransferProgresses {
        let ids = ids.eachOnce
        return TransferProgresses(clock: core.clock) { [core] in
            core.changes(of: ids)
        } isOver: { [core] in
            core.isOver(ids)
        } look: { [core] in
            core.group(ids)
        }
    }

    /// Shows a watcher where each transfer stands, now and from now on, in order and outside of any lock.
    func watch(_ watcher: @escaping TransferCore.Watcher) { core.watch(watcher) }

    // MARK: The end

    /// Ends all transfers, keeps what has come, and returns when nothing is under way and everything is on the disk.
    /// Whatever is asked of the center afterwards does nothing, and each transfer is told to stand where it stood: one
    /// that ran, as running. The next center of the folder finds it paused.
    public func close() async {
        for run in core.close() { await run.ended() }
        await core.settle()
    }
}

extension [String] {
    fileprivate var eachOnce: [String] { Array(Set(self)) }
}
