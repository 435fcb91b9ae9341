internal import Foundation
public import IDMCore
internal import IDMFiles

/// Downloads files: takes what is to be downloaded, and answers with the file in its place.
///
/// ```swift
/// let downloads = DownloadProvider(service)
/// let map = try await downloads.request(ServiceDownload(ServiceRequest(.get, "/maps/europe"), to: .file(url)))
/// ```
///
/// It is a provider as others are: `signIn >>>> downloads`, `first >><< second` and `downloads.each(limit: 5)`
/// work, and a call's `onProgress` hears how far it has come.
///
/// - **Nothing is half there.** What comes is written beside its place, for this user alone, and moved into it in one
///   step once everything has come, has the size and the digest that were expected, and the service's rules had let it
///   pass.
/// - **It goes on.** What has come stays when a download fails, is paused, or its process ends; the next request for
///   the same object into the same place begins where it stopped. It does so if the server can tell that the object is
///   still the same one (by a strong ETag, or a date). If it is another one, or if the server doesn't know how to send
///   a part, the whole is fetched anew: a file is never put together from two.
/// - **Pausing** with a `PauseControl` ends the connection and keeps what has come, where that can be gone on with, and
///   nothing otherwise. A request that may not be made twice stays: a pause stops the reading of its answer.
///   **Cancelling** removes what has come, or keeps it if the download says so. Either is heard at any moment.
/// - **One at a time.** A download that runs holds a lock on its part, and another one of that part fails with
///   ``TransferError/inUse(_:)``. On iOS an app that is suspended while it holds a lock in an app group's shared
///   container may be ended by the system (`0xdead10cc`): let downloads go into the app's own container, or begin a
///   background task and pause them before it expires.
///
/// Work runs away from the caller's actor, and what waits for the disk on threads of its own. What comes is written at
/// once: no more than a piece is in memory, beside the 2 MB that the transport keeps of what comes. Fails with an
/// ``HTTPError``, with a ``TransferError``, with what an interceptor threw, or with `CancellationError` if the task was
/// cancelled.
public struct DownloadProvider: DataProvider {
    /// What the files are asked of.
    public var service: HTTPService
    private let files: any FileLayer
    /// Whether whoever listens hears as well that a count begins anew.
    var tellsFalls = false
    /// Asked before the part is opened, again after each pause: for how long it will be.
    var willOpen: (@Sendable (DownloadStay) async throws -> Void)?
    /// Asked whether a part that stands in the place of this one's, and is of an object of this name, is gone on with
    /// by somebody. The download fails if it is.
    var isKept: (@Sendable (String) -> Bool)?
    /// Asked before a file gets its name: which one it is, and what the server suggests to call it. It doesn't get it
    /// if this throws.
    var willLand: (@Sendable (FileStatus, String?) async throws -> Void)?

    /// Makes a provider of downloads from a service.
    public init(_ service: HTTPService) {
        self.init(service, files: POSIXFiles())
    }

    init(_ service: HTTPService, files: any FileLayer) {
        self.service = service
        self.files = files
    }

    /// Downloads a file.
    public func request(_ download: ServiceDownload) async throws -> DownloadedFile {
        try await LibraryTask.elsewhere { try await run(download).file() }
    }

    /// The service, which is asked for downloads.
    public var structure: ProviderStructure { .wrapping(service.structure, in: "download") }

    /// Removes what an unfinished download has left. Does nothing while the download is under way, or somebody else
    /// looks at its part.
    @concurrent
    public func discard(_ download: ServiceDownload) async throws {
        try await part(of: download).discard()
    }

    /// What a download has left, as far as one can see.
    @concurrent
    func left(by download: ServiceDownload) async -> TransferProgress {
        let (length, total) = await (try? part(of: download))?.look() ?? (0, nil)
        return TransferProgress(completed: length, total: total)
    }

    /// A download that says which folder it is in, by whatever name.
    @concurrent
    func located(_ download: ServiceDownload) async -> ServiceDownload {
        var download = download
        download.folder = await (try? part(of: download))?.folder
        return download
    }

    /// A download that says what its object is, also where its request is known without its secrets later.
    func named(_ download: ServiceDownload) -> ServiceDownload {
        guard download.object == nil, let address = try? service.configuration.resolve(download.request).url,
            let place = try? DownloadPlace(download, from: address, redaction: service.configuration.redaction)
        else { return download }
        var download = download
        download.object = place.object
        return download
    }

    /// The file that a download has left in its place, if it is there and the one that was to get there.
    @concurrent
    func landed(_ download: ServiceDownload, _ landing: TransferRecord.Landing) async -> DownloadedFile? {
        guard let part = try? part(of: download),
            let file = await part.landed(landing.file, size: landing.size, landing.suggestedName)
        else { return nil }
        // What its process had no time for.
        await part.discard()
        return file
    }

    private func run(_ download: ServiceDownload) throws -> DownloadRun {
        if let digest = download.sha256, digest.count != 64 || !digest.consists(of: .hexDigits) {
            throw TransferError.notADigest(digest.escapedForDescription())
        }
        let address: TransportRequest
        do throws(ServiceRequest.Fault) {
            address = try service.configuration.resolve(download.request)
        } catch {
            throw HTTPError(
                .badRequest(error), request: download.request.description(redacted: service.configuration.redaction))
        }
        var download = download
        download.request.scope = CredentialScope()
        return DownloadRun(
            service: service, download: download, part: try part(of: download, from: address.url),
            reporter: .current(service.clock, tellsFalls: tellsFalls), willOpen: willOpen,
            willLand: willLand, deadline: RequestDeadline(download.request, service))
    }

    /// Where a download is on the disk. What its object is called is enough: its address may hold what isn't known
    /// here.
    private func part(of download: ServiceDownload) throws -> DownloadPart {
        let address: URL
        do throws(ServiceRequest.Fault) {
            address = try service.configuration.resolve(download.request).url
        } catch {
            guard let object = download.object else { throw error }
            address = URL(fileURLWithPath: object)
        }
        return try part(of: download, from: address)
    }

    private func part(of download: ServiceDownload, from address: URL) throws(TransferError) -> DownloadPart {
        let place = try DownloadPlace(download, from: address, redaction: service.configuration.redaction)
        return DownloadPart(place, download, files, isKept: isKept)
    }
}
