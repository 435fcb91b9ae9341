import Foundation
import IDMHTTP
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// MARK: Stand-ins, with the signatures of Alamofire 5 and FirebaseFunctions 11

private struct Session: Sendable {
    let answer: @Sendable (URLRequest) -> (HTTPURLResponse?, Data?)

    func request(_ request: URLRequest) -> DataRequest { DataRequest(outgoing: request, session: self) }
}

private struct Redirector: Sendable {
    static let doNotFollow = Redirector()
}

private struct DataRequest: Sendable {
    let outgoing: URLRequest
    let session: Session

    func redirect(using redirector: Redirector) -> DataRequest { self }

    func uploadProgress(closure: @escaping @Sendable (Progress) -> Void) -> DataRequest {
        let progress = Progress(totalUnitCount: 1)
        progress.completedUnitCount = Int64(outgoing.httpBody?.count ?? 0)
        closure(progress)
        return self
    }

    func serializingData(emptyResponseCodes: Set<Int>) -> DataTask {
        let (response, data) = session.answer(outgoing)
        return DataTask(answer: DataResponse(response: response, data: data, error: nil))
    }
}

private struct DataTask: Sendable {
    let answer: DataResponse

    var response: DataResponse { get async { answer } }
}

private struct DataResponse: Sendable {
    let response: HTTPURLResponse?
    let data: Data?
    let error: (any Error)?
}

private let FunctionsErrorDomain = "com.firebase.functions"

private struct Functions: Sendable {
    let answer: @Sendable (String, Data) throws -> Data

    func httpsCallable(_ name: String) -> HTTPSCallable { HTTPSCallable(name: name, functions: self) }
}

private struct HTTPSCallable {
    let name: String
    let functions: Functions

    func call(_ data: Any?) async throws -> HTTPSCallableResult {
        let input = try JSONSerialization.data(withJSONObject: data ?? NSNull(), options: .fragmentsAllowed)
        let output = try functions.answer(name, input)
        return HTTPSCallableResult(data: try JSONSerialization.jsonObject(with: output, options: .fragmentsAllowed))
    }
}

private struct HTTPSCallableResult {
    let data: Any
}

// MARK: The sketches

private enum Sketches {
    // sample: over Alamofire
    struct AlamofireTransport: HTTPTransport {
        let session: Session

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var outgoing = request.urlRequest
            let body = try request.body?.bytes()
            outgoing.httpBody = try await body?.reduce(into: Data()) { $0 += $1 }
            let answer = await session.request(outgoing)
                .redirect(using: .doNotFollow)
                .uploadProgress { request.didSend($0.completedUnitCount) }
                .serializingData(emptyResponseCodes: Set(100..<600))
                .response
            guard let head = answer.response else {
                throw answer.error ?? URLError(.badServerResponse)
            }
            return TransportResponse(
                status: head.statusCode, headers: ServiceHeaders(head),
                body: HTTPBytes(answer.data ?? Data()))
        }
    }
    // end

    // sample: over Firebase
    struct FirebaseTransport: HTTPTransport {
        let functions: Functions

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let body = try await request.body?.bytes().reduce(into: Data()) { $0 += $1 }
            let input = try body.map { try JSONSerialization.jsonObject(with: $0) }
            do {
                let name = request.url.lastPathComponent
                let result = try await functions.httpsCallable(name).call(input)
                let output = try JSONSerialization.data(
                    withJSONObject: result.data, options: .fragmentsAllowed)
                return TransportResponse(
                    status: 200, headers: ["Content-Type": "application/json"],
                    body: HTTPBytes(output))
            } catch let error as NSError where error.domain == FunctionsErrorDomain {
                let statuses = [5: 404, 7: 403, 8: 429, 14: 503, 16: 401]
                return TransportResponse(status: statuses[error.code] ?? 500)
            }
        }
    }
    // end
}

@Suite("A transport over a foreign client", .timeLimit(.ample))
struct WritingATransportTests {
    private func service(_ transport: any HTTPTransport) throws -> HTTPService {
        let url = try #require(URL(string: "https://h/v1"))
        return HTTPService(configuration: ServiceConfiguration(baseURL: url), transport: transport)
    }

    @Test("a URLRequest client gets the whole request")
    func alamofire() async throws {
        let session = Session { request in
            let fields = [
                "X-Method": request.httpMethod ?? "", "X-Own": request.value(forHTTPHeaderField: "X-Own") ?? "",
            ]
            return (
                request.url.flatMap {
                    HTTPURLResponse(url: $0, statusCode: 201, httpVersion: nil, headerFields: fields)
                }, request.httpBody
            )
        }
        let request = ServiceRequest(.put, "/a", headers: ["X-Own": "1"], body: .text("body"))
        let response = try await service(Sketches.AlamofireTransport(session: session)).request(request)

        #expect(response.status == 201 && response.text == "body")
        #expect(response.headers["X-Method"] == "PUT" && response.headers["X-Own"] == "1")
    }

    @Test("a client without HTTP has its codes mapped")
    func firebase() async throws {
        let functions = Functions { name, input in
            guard name == "echo" else { throw NSError(domain: FunctionsErrorDomain, code: 5) }
            return input
        }
        let service = try service(Sketches.FirebaseTransport(functions: functions))

        let response = try await service.request(ServiceRequest(.post, "/echo", body: .json(["a": 1])))
        #expect(response.text == #"{"a":1}"#)
        let stream = RequestBody.stream(HTTPBytes(Data(#"{"a":2}"#.utf8)))
        #expect(try await service.request(ServiceRequest(.post, "/echo", body: stream)).text == #"{"a":2}"#)
        let error = await #expect(throws: HTTPError.self) {
            try await service.request(ServiceRequest(.post, "/other", body: .json(["a": 1])))
        }
        #expect(error?.status == 404)
    }
}
