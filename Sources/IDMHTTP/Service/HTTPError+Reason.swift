internal import Foundation
internal import IDMCore

extension HTTPError.Reason {
    /// A reason on its way to the one who knows the request.
    struct Thrown: Error {
        let reason: HTTPError.Reason
        let response: ServiceResponse?

        init(_ reason: HTTPError.Reason, response: ServiceResponse? = nil) {
            self.reason = reason
            self.response = response
        }
    }
}

extension HTTPError {
    /// Makes the error of a request from an error of its exchange.
    init(of error: any Error, request: String) {
        switch error {
        case let error as HTTPError:
            self = error
        case let error as Reason.Thrown:
            self.init(error.reason, request: request, response: error.response)
        case let error as ServiceRequest.Fault:
            self.init(.badRequest(error), request: request)
        case let error as RequestBody.Fault:
            self.init(.badRequest(.body(error)), request: request)
        case let fault as TransportFault:
            self.init(Reason(fault), request: request)
        case is CancellationError, IntegrationError.cancelled, URLError.cancelled:
            self.init(.cancelled, request: request)
        case URLError.timedOut:
            self.init(.timedOut(.transport), request: request)
        default:
            self.init(.transport(error), request: request)
        }
    }
}

extension HTTPError.Reason {
    init(_ fault: TransportFault) {
        switch fault.kind {
        case .bodyTooLarge(let limit): self = .tooLarge(limit: limit)
        case .headerTooLarge(let limit): self = .headerTooLarge(limit: limit)
        default: self = .transport(fault)
        }
    }
}
