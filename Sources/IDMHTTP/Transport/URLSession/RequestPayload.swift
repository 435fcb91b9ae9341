internal import Foundation

/// The body of a request as URLSession takes it: bytes, or a file whose length it can announce.
///
/// URLSession doesn't know the length of a stream. So a body that is neither in memory nor a single file is written to
/// a temporary file first, and on Linux every body is read into memory.
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

    #if canImport(FoundationNetworking)
    /// Reads a body into memory. URLSession on Linux reads a file on another thread, and a piece that comes when the
    /// task has just ended ends the process; it reads a stream on the thread that serves all other transfers.
    ///
    /// - Parameter didRead: Called with each piece of a body that isn't in memory.
    static func inMemory(_ body: RequestBody.Encoded?, didRead: () -> Void) async throws -> RequestPayload {
        guard let body else { return .none }
        // Before it is opened: the path may now be a FIFO, and opening it would block.
        if let file = body.file, let length = body.length, let fault = Self.file(file, length: length).fault {
            throw fault
        }
        var data = body.data ?? Data()
        if body.data == nil {
            for try await piece in try body.bytes() {
                data += piece
                didRead()
                try Task.checkCancellation()
            }
        }
        return data.isEmpty ? .none : .data(data)
    }
    #endif

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
        try TemporaryFile.puttingAside { try TemporaryFile(in: folder) }
    }

    func write(_ piece: Data, to file: TemporaryFile) throws(TransportFault) {
        try TemporaryFile.puttingAside { try file.handle.write(contentsOf: piece) }
    }

    func remove(_ file: TemporaryFile) {
        file.remove()
    }
}
