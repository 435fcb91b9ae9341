/// What has come of a transfer.
public enum TransferResult: Sendable {
    /// A download has put a file into its place.
    case file(DownloadedFile)
    /// An upload was answered.
    case response(ServiceResponse)

    /// The file of a download.
    public var file: DownloadedFile? {
        if case .file(let file) = self { file } else { nil }
    }

    /// The response to an upload.
    public var response: ServiceResponse? {
        if case .response(let response) = self { response } else { nil }
    }
}
