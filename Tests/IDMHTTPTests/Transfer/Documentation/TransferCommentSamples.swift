import Foundation
import IDMCore
import IDMHTTP

#if canImport(Darwin)
import SwiftUI
#else
import TestSupport

extension Surroundings {
    typealias ProgressView = SwiftUIStandIn.ProgressView
    typealias State = SwiftUIStandIn.State
    typealias View = SwiftUIStandIn.View
}
#endif

extension Surroundings {
    private static func download(_ service: HTTPService, _ url: URL) async throws {
        // sample: a file that is downloaded
        let downloads = DownloadProvider(service)
        let map = try await downloads.request(ServiceDownload(ServiceRequest(.get, "/maps/europe"), to: .file(url)))
        // end
        _ = map
    }

    private static func digest(_ map: URL) -> ServiceDownload {
        // sample: a download with a digest
        let request = ServiceRequest(.get, "/maps/{name}", pathParameters: ["name": "europe"])
        var download = ServiceDownload(request, to: .file(map))
        download.sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        // end
        return download
    }

    private static func upload(_ service: HTTPService, _ film: URL, id: String) async throws {
        // sample: a file that is uploaded
        let uploads = UploadProvider(service)
        let request = ServiceRequest(.put, "/films/{id}", pathParameters: ["id": id], body: .file(film))
        let response = try await uploads.request(request)
        // end
        _ = response
    }

    @MainActor
    private static func center(_ service: HTTPService, _ records: URL, _ maps: URL) async throws {
        // sample: a center of transfers
        let center = try await TransferCenter(service, folder: records)
        center.download(ServiceDownload(ServiceRequest(.get, "/maps/europe"), to: .folder(maps)), id: "europe")
        for await state in center.states(of: "europe") { show(state) }
        // end
    }

    private static func trace(_ trace: TraceRecorder, _ center: TransferCenter) {
        // sample: a trace of transfers
        trace.watch(center)
        // end
    }

    // sample: what a screen shows of a transfer
    struct MapRow: View {
        let id: String
        let center: TransferCenter
        @State private var status: TransferStatus?

        var body: some View {
            ProgressView(value: status?.progress?.fraction ?? 0)
                .disabled(status?.state?.isOver ?? true)
                .task(id: id) { status = TransferStatus(of: id, in: center) }
        }
    }
    // end
}
