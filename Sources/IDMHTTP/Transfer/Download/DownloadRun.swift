internal import Foundation
internal import IDMCore
internal import IDMFiles

/// One download, from the first request to the file in its place.
struct DownloadRun: Sendable {
    let service: HTTPService
    let download: ServiceDownload
    let part: DownloadPart
    let reporter: TransferReporter?
    let willOpen: (@Sendable (DownloadStay) async throws -> Void)?
    let willLand: (@Sendable (FileStatus, String?) async throws -> Void)?
    let deadline: RequestDeadline?

    /// How much comes together before it is written, as far as it comes at once.
    static let bufferLength = 1 << 19
    /// An answer with fewer bytes than this, and with less than a hundredth of the whole, counts as a crumb.
    private static let leastPiece: Int64 = 1 << 16
    /// The number of crumbs after which a server isn't asked for the rest again: the download fails and keeps its part.
    private static let mostCrumbs = 16

    func file() async throws -> DownloadedFile {
        do {
            let interruption = Interruption(deadline: deadline)
            return try await interruption.run {
                let flow = RequestFlow(download.request, interruption.control)
                let stay = DownloadStay()
                let ends = { @Sendable in
                    guard flow.end() else { return false }
                    stay.end()
                    return true
                }
                return .init(ends: ends) { try await attempt(flow, stay) }
            }
        } catch {
            guard error is CancellationError || Task.isCancelled else { throw error }
            if download.onCancel == .remove { await part.discard() }
            throw CancellationError()
        }
    }

    private func attempt(_ flow: RequestFlow, _ stay: DownloadStay) async throws -> DownloadedFile {
        if let willOpen, let deadline {
            try await deadline.wait { try await willOpen(stay) }
        } else {
            try await willOpen?(stay)
        }
        try stay.begin()
        defer { stay.leave() }
        switch try await part.open() {
        case .done(let file):
            return await done(file)
        case .plan(let plan):
            do {
                try Task.checkCancellation()
                return try await fetch(flow.hasRanges ? plan : .anew, flow)
            } catch {
                // What was kept back is told before a failure.
                await reporter?.flush()
                await part.leave(keeping: error.leavesPart)
                throw deadline?.whole(error) ?? error
            }
        }
    }

    private func fetch(_ first: DownloadPlan, _ flow: RequestFlow) async throws -> DownloadedFile {
        var plan = first
        var crumbs = 0
        while true {
            guard let answer = try await open(plan, flow) else {
                plan = .anew
                continue
            }
            let source = answer.url.flatMap { ServiceOrigin($0) }?.description
            // A tag means something at the server that made it alone.
            if answer.status == 206, plan != .anew, await part.source != source {
                plan = .anew
                continue
            }
            switch plan.verdict(on: answer.status, answer.headers, size: download.size) {
            case .fail(let error): throw error
            case .askAnew: plan = .anew
            case .take(let first, let end, let total):
                try await part.begin(from: first, total: total, headers: answer.headers, source: source)
                do {
                    try await copy(
                        flow.led(answer.bytes, until: deadline), to: part, from: first, end: end, total: total)
                } catch TransferError.size where answer.status == 206 && plan != .anew {
                    // More than the part that it was said to be: nothing is known of what has come. Nor may anybody go
                    // on with that, if the whole can't be had now.
                    try await part.giveUpAnswer()
                    plan = .anew
                    continue
                }
                // A server may send less than it was asked for, and the rest if it is asked again.
                if let rest = await part.rest(), case .goOn(let length, _, let whole?) = rest {
                    if length - first < min(Self.leastPiece, whole / 100) { crumbs += 1 }
                    guard crumbs < Self.mostCrumbs else { throw TransferError.incomplete(received: length, of: whole) }
                    plan = rest
                    continue
                }
                try await check(total)
                try await part.verify()
                let suggested = answer.headers[.contentDisposition].flatMap(ContentDisposition.fileName)
                // Neither stopped nor paused from here on: whoever hears of it has let the file have its name.
                try flow.settle()
                if let willLand, let (file, name) = await part.future(suggested: suggested) {
                    try await willLand(file, name)
                }
                return await done(try await part.finish(suggested: suggested))
            }
        }
    }

    private func done(_ file: DownloadedFile) async -> DownloadedFile {
        reporter?.report(file.size, of: file.size)
        await reporter?.flush()
        return file
    }

    /// The answer to what is planned. Nil if the server, or a rule, doesn't take to a request for a part.
    private func open(_ plan: DownloadPlan, _ flow: RequestFlow) async throws -> ServiceStream? {
        var request = download.request
        request.headers = request.headers.merging(plan.headers)
        request.didEncode = { flow.led($0) }
        request.skipsCache = true
        try deadline?.limit(&request)
        do {
            // What is read of an answer that is refused is none of the file's bytes.
            return try await IntegrationProgress.Reporter.unbind { try await service.open(request) }
        } catch let error as HTTPError where plan.isRefused(error.status) {
            return nil
        }
    }

    /// Writes what comes, where it is written: it has no other way to go. Each piece at once: the transport has put
    /// together what has come, and nobody knows when the next one does.
    private func copy(
        _ bytes: HTTPBytes, to part: isolated DownloadPart, from first: Int64, end: Int64?, total: Int64?
    ) async throws {
        var received = first
        reporter?.report(part.length, of: total)
        for try await piece in bytes.gathered(Self.bufferLength) {
            received += Int64(piece.count)
            if let most = end ?? download.size, received > most {
                throw TransferError.size(expected: most, found: received)
            }
            let length = try part.append(piece)
            reporter?.report(length, of: total)
        }
        if let end, received < end { throw TransferError.incomplete(received: received, of: end) }
    }

    private func check(_ total: Int64?) async throws {
        let length = await part.length
        if let total, length != total { throw TransferError.incomplete(received: length, of: total) }
        if let size = download.size, length != size { throw TransferError.size(expected: size, found: length) }
    }
}

extension Error {
    /// Whether what has come before this is still of use.
    fileprivate var leavesPart: Bool {
        switch self as? TransferError {
        case .size, .digest: false
        default: true
        }
    }
}
