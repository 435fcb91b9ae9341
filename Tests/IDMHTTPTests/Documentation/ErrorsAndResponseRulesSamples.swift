import Foundation
import IDMHTTP

private struct Client: Sendable {
    struct Answer {
        let code: Int
        let bytes: Data
    }

    func send(_ method: String, to url: URL, body: Data?) async throws -> Answer { Answer(code: 200, bytes: Data()) }
}

private let client = Client()

private func verdicts(_ service: HTTPService, _ request: ServiceRequest) async throws {
    var service = service
    // sample: rules
    struct APIFailure: Error, Decodable {
        let code: Int
    }

    service.rules = [
        .envelope(APIFailure.self, at: "meta") { $0.code == 0 ? nil : $0 },
        .failureBody(APIFailure.self),
    ]
    // end

    // sample: errors
    do {
        let response = try await service.request(request)
        print(response.text)
    } catch let error as HTTPError {
        switch error.reason {
        case .status(404): print("There is no such thing.")
        case .timedOut, .transport: print("Try again later.")
        default: print(error.failure(as: APIFailure.self)?.code ?? 0, error)
        }
    }
    // end
}

// sample: an interceptor
struct Language: HTTPInterceptor {
    func intercept(
        _ request: ServiceRequest, next: InterceptorChain
    ) async throws -> ServiceResponse {
        var request = request
        request.headers[.acceptLanguage] = "en"
        return try await next(request)
    }
}
// end

// sample: a transport
struct ClientTransport: HTTPTransport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let body = try await request.body?.bytes().reduce(into: Data()) { $0 += $1 }
        let answer = try await client.send(
            request.method.name, to: request.url, body: body)
        return TransportResponse(status: answer.code, body: HTTPBytes(answer.bytes))
    }
}
// end
