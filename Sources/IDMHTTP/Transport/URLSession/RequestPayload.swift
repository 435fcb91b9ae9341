internal import Foundation

/// The body of a request as URLSession takes it: bytes, or a file whose length it can announce.
///
/// URLSession could read any stream. But it doesn't know how long it is, and on Linux it reads it where it serves all
/// other transfers, so that one which takes its time would hold them all up. So what isn't a file as it stands becomes
/// one first.
enum RequestPayload: Sendable {
    case none
    case data(Data)
    case file(URL, length: Int)
    case temporary(TemporaryFile, length: Int)

    /// Prepares a body. Calls back whenever something of a stream has come.
    init(_ body: RequestBody.Encoded?, folder: URL, didWrite: () -> Void) async throws {
        guard let body else {
            self = .none
            return
        }
        if let data = body.data {
            self = data.isEmpty ? .none : .data(data)
        } else if let url = body.file, let length = body.length {
            self = length == 0 ? .none : .file(url, length: length)
        } else {
            // Also one of which it is said that it is empty: that is found out as it is read.
            self = try await Self.written(try body.bytes(), in: folder, didWrite: didWrite)
        }
    }

    private static func written(
        _ bytes: HTTPBytes, in folder: URL, didWrite: () -> Void
    ) async throws -> RequestPayload {
        let writer = FileWriter()
        let file = try await writer.open(in: folder)
        var length = 0
        do {
            for try await piece in bytes {
                try await writer.write(piece, to: file)
                length += piece.count
                didWrite()
                try Task.checkCancellation()
            }
        } catch {
            await writer.remove(file)
            throw error
        }
        guard length > 0 else {
            await writer.remove(file)
            return .none
        }
        return .temporary(file, length: length)
    }

    /// Why a file can't be sent, or couldn't. Nil if nothing is wrong with it.
    var fault: RequestBody.Fault? {
        if let change { return change }
        guard case .file(let url, _) = self, url.path.withCString({ access($0, R_OK) }) != 0 else { return nil }
        return .file(url.lastPathComponent, reason: "there is no permission to read it")
    }

    /// The change of a file while it is sent, checked with each piece. Permissions don't matter once a file is open.
    var change: RequestBody.Fault? {
        guard case .file(let url, let length) = self else { return nil }
        var status = stat()
        guard url.path.withCString({ stat($0, &status) }) == 0 else {
            return .file(url.lastPathComponent, reason: "there is no such file any more")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return .file(url.lastPathComponent, reason: "it is no plain file any more")
        }
        guard status.st_size < length else { return nil }
        return .file(url.lastPathComponent, reason: "it has become shorter than \(length) bytes")
    }

    /// Takes away what was made for the exchange.
    func remove() {
        if case .temporary(let file, _) = self { file.remove() }
    }
}

/// Writes a file on a thread that may wait for a disk.
private actor FileWriter {
    private nonisolated let thread = FileThread("IDMHTTP.spool")

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func open(in folder: URL) throws(TransportFault) -> TemporaryFile {
        let file = try TemporaryFile.puttingAside { try TemporaryFile(in: folder) }
        #if canImport(FoundationNetworking)
        // It is sent as it is open here. On Apple's platforms URLSession opens it itself.
        file.unname()
        #endif
        return file
    }

    func write(_ piece: Data, to file: TemporaryFile) throws(TransportFault) {
        try TemporaryFile.puttingAside { try file.handle.write(contentsOf: piece) }
    }

    func remove(_ file: TemporaryFile) {
        file.remove()
    }
}
