internal import Foundation
public import IDMCore
internal import Synchronization

/// Uploads whatever a request carries: bytes, a file, a stream, or parts of all kinds.
///
/// ```swift
/// let uploads = UploadProvider(service)
/// let request = ServiceRequest(.put, "/films/{id}", pathParameters: ["id": id], body: .file(film))
/// let response = try await uploads.request(request)
/// ```
///
/// A service could send the request as well. A provider of uploads adds what uploads need:
///
/// - **Progress** counts the bytes that have really gone, and not those of the answer. A body that has to be sent
///   again, after a redirect or with another credential, stays where it was until it has caught up.
/// - **Pausing** with a `PauseControl` ends the connection, and the body is sent again from its start: a server keeps
///   nothing of half a body. A request that may not be made twice is ended as long as its body hasn't begun to go; from
///   then on it isn't, because nobody can know what has arrived. It stands still where it is, and goes on over the same
///   connection, if the transport reads the body piece by piece. Over ``URLSessionTransport`` it goes to its end. A
///   stream, and a multipart body with files in it, are put together first there, and only that stops.
///   Paused, it isn't silent.
/// - **Time** is the time-out's: the service's deadline doesn't hold, only one of the request itself.
///
/// Files are read while they travel, 64 KB at a time. One that has become longer or shorter, was changed or has
/// vanished before there is an answer fails the upload with a ``RequestBody/Fault`` inside of an ``HTTPError``,
/// whatever the server has made of it.
///
/// Work runs away from the caller's actor. Fails as the service does.
public struct UploadProvider: DataProvider {
    /// What is uploaded to.
    public var service: HTTPService
    /// Whether whoever listens hears as well that a count begins anew.
    var tellsFalls = false

    /// Makes a provider of uploads from a service.
    public init(_ service: HTTPService) {
        self.service = service
    }

    /// Uploads what a request carries, and answers with the response to it.
    public func request(_ request: ServiceRequest) async throws -> ServiceResponse {
        try await LibraryTask.elsewhere { try await upload(request) }
    }

    @concurrent
    private func upload(_ request: ServiceRequest) async throws -> ServiceResponse {
        var service = service
        service.configuration.totalTimeout = nil
        let deadline = RequestDeadline(request, service)
        let interruption = Interruption(deadline: deadline)
        var request = request
        request.scope = CredentialScope()
        let reporter = TransferReporter.current(service.clock, tellsFalls: tellsFalls)
        let response = try await interruption.run { [service, request] in
            let flow = RequestFlow(request, interruption.control)
            return .init(ends: flow.end) {
                var sent = request
                try deadline?.limit(&sent)
                do {
                    return try await Self.response(to: sent, of: service, flow, reporter)
                } catch {
                    // What was kept back is told before a failure.
                    await reporter?.flush()
                    throw deadline?.whole(error) ?? error
                }
            }
        }
        await reporter?.flush()
        return response
    }

    private static func response(
        to request: ServiceRequest, of service: HTTPService, _ flow: RequestFlow, _ reporter: TransferReporter?
    ) async throws -> ServiceResponse {
        var sent = request
        sent.didEncode = { flow.led($0) }
        sent.didSend = { reporter?.report($0, of: flow.length) }
        // The answer has a progress of its own, which is nobody's here.
        return try await IntegrationProgress.Reporter.unbind { [sent] in try await service.request(sent) }
    }

    /// The service, which is asked for uploads.
    public var structure: ProviderStructure { .wrapping(service.structure, in: "upload") }
}
