internal import Foundation
internal import IDMCore
internal import IDMFiles

/// A part on the disk, and what is known of it. At each moment the process may end: what is there then is an empty
/// part, one with a sidecar, or the whole file. By that the next download knows it for a part, and whether it can be
/// gone on with; whatever else stands in its place is somebody else's.
actor DownloadPart {
    /// How it begins.
    enum Opening: Sendable {
        /// It was done before, by a process that did not live to tell.
        case done(DownloadedFile)
        case plan(DownloadPlan)
    }

    private nonisolated let thread = FileThread("IDMHTTP.download")
    private let place: DownloadPlace
    private let download: ServiceDownload
    private let disk: PartFiles
    private let isKept: (@Sendable (String) -> Bool)?
    private var files: any FileLayer { disk.files }

    private var file: Int32?
    private var sidecar: DownloadSidecar?
    /// How many bytes are in it.
    private(set) var length: Int64 = 0
    /// What there was as the answer began that is being taken.
    private var beginning: (sidecar: DownloadSidecar?, length: Int64)?
    /// Whether an answer is being taken, so that what is wrong with it is wrong with the part.
    private var isTaking = false
    /// How many of the bytes that come next are there already.
    private var surplus: Int64 = 0
    /// The digest of the part as it was read back from the disk, and when it was last written then.
    private var verified: (digest: String, modified: Duration)?
    /// Whether others than this user may read it by now.
    private var isPermitted = false
    /// Whether the system has said that something of what was written is lost. It says so once.
    private var hasLost = false
    /// How long it was when its sidecar was written last.
    private var checkpoint: Int64 = 0

    private static let checkpointDistance: Int64 = 64 << 20

    init(
        _ place: DownloadPlace, _ download: ServiceDownload, _ files: any FileLayer,
        isKept: (@Sendable (String) -> Bool)?
    ) {
        self.place = place
        self.download = download
        self.isKept = isKept
        disk = PartFiles(place: place, files: files)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    // MARK: Opening

    /// Takes the part, for nobody else to write it. To be left, or finished.
    func open() throws(TransferError) -> Opening {
        // Nothing counts of an opening before: in a pause somebody else may have been there.
        (sidecar, verified, length, surplus, checkpoint) = (nil, nil, 0, 0, 0)
        (beginning, isTaking, isPermitted, hasLost) = (nil, false, false, false)
        let known = disk.writtenDown
        if let file = finished(known) { return .done(file) }
        disk.removeRemains(of: destinations(known?.suggestedName))
        if download.destination.kind == .file { try refuseExisting(nil) }
        do throws(FileFault) {
            let status = try take(known)
            // Until then somebody else may have had it, and have written there.
            let known = disk.writtenDown
            if let isKept, let other = otherObject(of: status), isKept(other) { throw .use(place.part.lastName) }
            let plan = DownloadPlan(
                sidecar: known, part: status, object: place.object, size: download.size, session: files.session)
            if case .goOn = plan, let known { try goOn(with: known, status) }
            return .plan(plan)
        } catch {
            close()
            throw failure(error)
        }
    }

    /// The file that a process has put into its place just before it ended.
    private func finished(_ known: DownloadSidecar?) -> DownloadedFile? {
        guard let known, let whole = known.whole,
            let (path, size) = disk.landed(known.file, size: whole, in: destinations(known.suggestedName))
        else { return nil }
        // What it had no time for.
        disk.removeRemains(of: [path])
        disk.removeSidecar(of: known.file)
        guard known.isOf(place.object), download.size.map({ $0 == whole }) ?? true else { return nil }
        return asked(path, size: size)
    }

    /// The file of an identity and a size, if it is where the download was to go.
    func landed(_ file: FileIdentity, size: Int64?, _ suggested: String?) -> DownloadedFile? {
        disk.landed(file, size: size, in: destinations(suggested)).flatMap { asked($0.path, size: $0.size) }
    }

    /// A file that has landed, unless it has another digest than the one that it has to have. What a process has
    /// written down is no digest of what the disk has kept.
    private func asked(_ path: String, size: Int64) -> DownloadedFile? {
        let expected = download.sha256?.lowercased()
        if let expected {
            guard let file = try? files.open(path, .reading) else { return nil }
            defer { try? files.close(file) }
            var digest = SHA256()
            guard (try? read(file, upTo: size, into: &digest)) != nil, digest.hex == expected else { return nil }
        }
        return DownloadedFile(url: URL(fileURLWithPath: path), size: size, sha256: expected)
    }

    /// Which file the download is going to be, and what the server suggests to call it.
    func future(suggested: String?) -> (FileStatus, String?)? {
        guard let file, let status = try? files.status(file) else { return nil }
        return (status, sidecar?.suggestedName ?? suggested ?? place.ownName)
    }

    private func destinations(_ suggested: String?) -> some Sequence<String> {
        place.destinations(suggested: suggested, isNumbered: download.existing == .number)
    }

    /// Fails if it is known by now that there is no place for the file.
    private func refuseExisting(_ suggested: String?) throws(TransferError) {
        guard download.existing != .number, let path = destinations(suggested).first(where: { _ in true }),
            let status = try? files.status(at: path)
        else { return }
        if status.kind == .folder { throw .destinationIsFolder(path.lastName) }
        if download.existing == .refuse { throw .destinationExists(path.lastName) }
    }

    private func take(_ known: DownloadSidecar?) throws(FileFault) -> FileStatus {
        let (file, status) = try disk.take(for: destinations(known?.suggestedName))
        self.file = file
        return status
    }

    /// How long the part is, and how long it is going to be. Nothing is taken by that, and nothing promised.
    func look() -> (length: Int64, total: Int64?) {
        guard let known = disk.writtenDown, known.isOf(place.object),
            let status = try? files.status(at: place.part),
            status.identity.isStill(known.file)
        else { return (0, nil) }
        return (known.trusted(of: status, session: files.session), known.total)
    }

    /// The folder that the part is in. Nil if it isn't there.
    var folder: FileIdentity? { try? files.identity(ofFolder: place.folder + "/") }

    private func goOn(with known: DownloadSidecar, _ status: FileStatus) throws(FileFault) {
        guard let file else { return }
        let session = files.session
        length = known.trusted(of: status, session: session)
        if length < status.size { try files.cut(file, to: length) }
        checkpoint = length
        sidecar = known
        sidecar?.take(up: status.identity, session: session, at: length)
        if sidecar != known { try writeSidecar() }
    }

    /// Reads a file into a digest, from where the digest has come to. A cancel ends it early.
    private func read(_ file: Int32, upTo length: Int64, into digest: inout SHA256) throws(FileFault) {
        while digest.count < UInt64(length), !Task.isCancelled {
            let bytes = try files.readAll(
                file, length: Int(min(1 << 18, UInt64(length) - digest.count)), at: Int64(digest.count))
            guard !bytes.isEmpty else { break }
            bytes.withUnsafeBytes { digest.update($0) }
        }
    }

    // MARK: Writing

    /// Begins to take what comes: from a byte on that is there or comes next, or from the first one.
    func begin(from first: Int64, total: Int64?, headers: ServiceHeaders, source: String?) throws(TransferError) {
        let suggested = headers[.contentDisposition].flatMap(ContentDisposition.fileName)
        try refuseExisting(first == 0 ? suggested : sidecar?.suggestedName ?? suggested)
        isTaking = true
        do throws(FileFault) {
            if first == 0 { try beginAnew(total, headers, source) } else { try goOn(from: first, total) }
        } catch {
            throw failure(error)
        }
        beginning = (sidecar, length)
    }

    private func goOn(from first: Int64, _ total: Int64?) throws(FileFault) {
        surplus = length - first
        guard sidecar?.total != total else { return }
        sidecar?.total = total
        try writeSidecar()
    }

    private func beginAnew(_ total: Int64?, _ headers: ServiceHeaders, _ source: String?) throws(FileFault) {
        guard let file else { return }
        // In this order: at no moment is there a sidecar of an object that the part has bytes of another of, and at
        // none are there bytes without a sidecar.
        try files.cut(file, to: 0)
        (length, surplus, checkpoint) = (0, 0, 0)
        sidecar = DownloadSidecar(
            object: place.object,
            // Of what is asked for in another way there are no parts to go on with.
            validator: download.request.method == .get ? headers.strongValidator : nil, total: total,
            suggestedName: headers[.contentDisposition].flatMap(ContentDisposition.fileName),
            file: try files.status(file).identity, session: files.session)
        sidecar?.source = source
        try writeSidecar()
    }

    /// Gives up what has come of the answer that is being taken, and leaves the part as that has found it.
    func giveUpAnswer() throws(TransferError) {
        guard let file, let beginning else { return }
        isTaking = false
        // First: a part that can't be cut is longer than that, and nobody goes on with it.
        (sidecar, length) = beginning
        do throws(FileFault) {
            try files.cut(file, to: length)
        } catch {
            throw failure(error)
        }
        // What was written down meanwhile may be of what isn't there any more.
        try writeDown(synchronizing: false)
    }

    /// The origin that sent what there is.
    var source: String? { sidecar?.source }

    /// What to ask for next, if what has come wasn't all of it: what has come is there to stay then. Nil if it was, or
    /// the rest can't be asked for.
    func rest() -> DownloadPlan? {
        guard let validator = sidecar?.validator, let total = sidecar?.total, length > 0, length < total else {
            return nil
        }
        isTaking = false
        return .goOn(from: length, validator: validator, total: total)
    }

    /// Writes what has come. Returns how much there is now.
    func append(_ data: Data) throws(TransferError) -> Int64 {
        guard let file else { return length }
        var fault: FileFault?
        data.withUnsafeBytes { bytes in
            let known = min(surplus, Int64(bytes.count))
            surplus -= known
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[Int(known)...])
            var written = 0
            do throws(FileFault) {
                try files.writeAll(file, bytes, at: length, counting: &written)
            } catch {
                fault = error
            }
            length += Int64(written)
        }
        if let fault { throw failure(fault) }
        if length - checkpoint >= Self.checkpointDistance {
            try writeDown(synchronizing: download.durability == .power)
        }
        return length
    }

    /// Writes down how far it has come.
    private func writeDown(synchronizing: Bool) throws(TransferError) {
        guard let file, sidecar != nil else { return }
        do throws(FileFault) {
            if synchronizing { try synchronize(file) }
            checkpoint = length
            try writeSidecar()
        } catch {
            throw failure(error)
        }
    }

    private func synchronize(_ file: Int32) throws(FileFault) {
        do throws(FileFault) {
            try files.synchronize(file)
        } catch {
            if error.isLoss { hasLost = true }
            throw error
        }
        sidecar?.synchronized = length
    }

    private func writeSidecar() throws(FileFault) {
        guard let bytes = try? sidecar?.encoded() else { return }
        let isLasting = download.durability == .power
        try files.replace(place.sidecar, by: place.newSidecar, with: bytes, synchronizing: isLasting)
        // Its name as well, as far as the file system knows how to.
        if isLasting { try? files.synchronize(folder: place.folder + "/") }
    }

    // MARK: Ending

    /// Lets go of the part, which stays if it is to be kept and can be gone on with.
    func leave(keeping: Bool) {
        guard let file else { return }
        defer { close() }
        // Somebody else's by now.
        guard let status = try? files.status(file), (try? disk.isInPlace(status)) == true else { return }
        // As long as others may read it, only a sidecar that says it lands makes it a part.
        let isPrivate = !isPermitted || (try? files.permit(file, 0o600)) != nil
        // As long as nothing has come to be written in its stead.
        if otherObject(of: status) != nil { return }
        // What is wrong with an answer that wasn't taken is nothing that is wrong with what was there.
        if keeping || !isTaking, sidecar?.validator != nil, length > 0 {
            // Where somebody else has written to it as well, nobody goes on with it.
            if status.size != length { sidecar?.validator = nil }
            if isPrivate { sidecar?.whole = nil }
            if !hasLost { try? writeDown(synchronizing: true) }
            if hasLost { leaveWhatIsSure(file) }
        } else if isTaking || status.size == 0 {
            try? disk.removeAll(file)
        }
    }

    /// Leaves what was on the disk before something was lost: nobody knows what of the rest is. Asked again, the system
    /// would say that all of it is there.
    private func leaveWhatIsSure(_ file: Int32) {
        guard let sure = sidecar?.synchronized, sure > 0 else {
            try? disk.removeAll(file)
            return
        }
        length = min(length, sure)
        if (try? files.cut(file, to: length)) == nil { sidecar?.validator = nil }
        try? writeDown(synchronizing: false)
    }

    /// Removes the part, unless another download is writing it, or has left it to go on with.
    func discard() {
        guard file == nil, [place.part, place.sidecar].contains(where: { (try? files.status(at: $0)) != nil }),
            let status = try? take(disk.writtenDown), let file
        else { return }
        if otherObject(of: status) == nil { try? disk.removeAll(file) }
        close()
    }

    /// The other object that a file in the part's place is of. Nil if it is of this one, or nobody can go on with it.
    private func otherObject(of part: FileStatus) -> String? {
        guard part.size > 0, let known = disk.writtenDown, known.validator != nil, known.object != place.object,
            part.identity.isStill(known.file), known.trusted(of: part, session: files.session) > 0
        else { return nil }
        return known.object
    }

    /// Reads the whole part back and compares its digest with the expected one, if there is one: it is the digest of the
    /// file, and not of the bytes that were received. A cancel ends it; the part stays.
    func verify() throws {
        guard let expected = download.sha256?.lowercased(), let file else { return }
        var digest = SHA256()
        do throws(FileFault) {
            let modified = try files.status(file).modified
            try read(file, upTo: length, into: &digest)
            verified = (digest.hex, modified)
        } catch {
            throw failure(error)
        }
        try Task.checkCancellation()
        guard digest.hex == expected else { throw TransferError.digest(expected: expected, found: digest.hex) }
    }

    /// Puts what is whole into its place.
    func finish(suggested: String?) throws(TransferError) -> DownloadedFile {
        guard let file else { throw .incomplete(received: 0, of: length) }
        // For the one who comes after a process that ends once others may read the part, or once the file is in its
        // place, and before anybody hears of it.
        sidecar?.whole = length
        try writeDown(synchronizing: download.durability == .power)
        let path: String
        do throws(FileFault) {
            let mode = try files.modeOfNewFiles(by: place.newSidecar)
            isPermitted = true
            try files.permit(file, mode)
            // Nor has another process written to it, also since its digest was computed.
            let status = try files.status(file)
            guard try disk.isInPlace(status), status.size == length,
                status.modified == verified?.modified ?? status.modified
            else { throw .stale(place.part.lastName) }
            path = try disk.move(
                to: destinations(sidecar?.suggestedName ?? suggested), existing: download.existing)
        } catch {
            throw failure(error)
        }
        // Whatever fails from here on is no failure of the download.
        if let sidecar { disk.removeSidecar(of: sidecar.file) }
        if download.durability == .power { try? files.synchronize(folder: place.folder + "/") }
        close()
        return DownloadedFile(url: URL(fileURLWithPath: path), size: length, sha256: verified?.digest)
    }

    /// A call that was refused, with the part's name where the system has given none.
    private func failure(_ fault: FileFault) -> TransferError {
        TransferError(
            fault.name.isEmpty ? FileFault(call: fault.call, code: fault.code, name: place.part.lastName) : fault)
    }

    private func close() {
        if let file { disk.release(file) }
        file = nil
    }
}
