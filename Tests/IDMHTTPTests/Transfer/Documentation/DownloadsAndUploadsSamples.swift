import Foundation
import IDMCore
import IDMHTTP

/// What the samples take for granted.
@MainActor
private final class Bar {
    var fraction = 0.0
}

@MainActor
private func transfers(
    _ service: HTTPService, _ maps: URL, _ film: URL, _ records: URL, _ digest: String, _ bar: Bar, _ user: String,
    _ signIn: ClosureDataProvider<String, [ServiceDownload]>
) async throws {
    // sample: a download
    let downloads = DownloadProvider(service)
    let request = ServiceRequest(.get, "/maps/{name}", pathParameters: ["name": "europe"])
    var map = ServiceDownload(request, to: .folder(maps))
    map.sha256 = digest
    map.existing = .replace
    let file = try await downloads.request(map)
    // end
    _ = file

    do {
        // sample: an upload
        let uploads = UploadProvider(service)
        let request = ServiceRequest(
            .put, "/films/{id}", pathParameters: ["id": "7"], body: .file(film))
        let call = Integrator(uploads).prepareCall(request)
            .onProgress { progress in bar.fraction = progress.fraction }
            .onSuccess { response in print(response.status) }
        // end
        _ = call
    }

    do {
        // sample: pausing
        let control = PauseControl()
        let both = signIn >>>> downloads.each(limit: 5)
        async let files = control.bind { try await both.request(user) }
        control.pause()
        control.resume()
        // end
        _ = try await files
    }

    do {
        // sample: a center
        let center = try await TransferCenter(service, folder: records, width: 3)
        center.download(map, id: "europe", priority: .high)
        center.upload(ServiceRequest(.put, "/films/7", body: .file(film)), id: "film")
        center.pause("europe")
        center.resume("europe")
        for await state in center.states(of: "europe") {
            if case .running(let progress) = state {
                print(progress.fraction ?? 0, progress.timeLeft ?? .zero)
            }
        }
        let file = try await center.result(of: "europe").file
        // end
        _ = file
    }
}
