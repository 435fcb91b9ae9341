internal import Foundation
internal import IDMFiles

/// The files of a body as they were before it was sent, to detect changes.
struct SentFiles: Sendable {
    private struct File: Sendable {
        let url: URL
        let status: FileStatus
    }

    private let files: [File]

    init(of body: RequestBody.Encoded?) {
        files = body?.files.compactMap { url in Self.status(of: url).map { File(url: url, status: $0) } } ?? []
    }

    /// The first file that has changed since, also if its modification time was put back. Nil if none has.
    var fault: RequestBody.Fault? {
        files.lazy.compactMap { file in
            Self.change(of: file).map { .file(file.url.lastPathComponent, reason: $0) }
        }.first
    }

    private static func change(of file: File) -> String? {
        guard let now = status(of: file.url) else { return "there is no such file any more" }
        let size = file.status.size
        if now.size != size { return "it has become \(now.size < size ? "shorter" : "longer") than \(size) bytes" }
        let isSame =
            now.identity == file.status.identity && now.modified == file.status.modified
            && now.changed == file.status.changed
        return isSame ? nil : "it has been changed while it was sent"
    }

    private static func status(of url: URL) -> FileStatus? {
        let status = try? POSIXFiles().status(at: url.resolvingSymlinksInPath().path)
        return status?.kind == .file ? status : nil
    }
}
