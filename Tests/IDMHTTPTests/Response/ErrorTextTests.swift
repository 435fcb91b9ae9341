import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The text of an error", .timeLimit(.ample))
struct ErrorTextTests {
    private struct Described: Error, CustomStringConvertible { var description: String { "The cart is empty." } }
    private struct Localized: LocalizedError { var errorDescription: String? { "Der Korb ist leer" } }
    private struct Silent: Error { var token = "s3cret" }

    @Test("carries the API's own failure, and no more of it than it says")
    func rejected() {
        func error(_ failure: any Error) -> HTTPError { HTTPError(.rejected(failure), request: "GET /a") }
        #expect("\(error(Described()))" == "GET /a: The response is a failure: The cart is empty.")
        #expect(error(Described()).localizedDescription == "The cart is empty.")
        #expect(error(Localized()).localizedDescription == "Der Korb ist leer.")
        #expect("\(error(Silent()))" == "GET /a: The response is a failure: Silent.")
        #expect(
            HTTPError(.status(500), request: "GET /a").localizedDescription
                == "The server answered with the status 500.")
    }

    @Test("carries a failure that came out of a stream as any other")
    func rejectedOutOfAStream() async {
        for (failure, text) in [(Described(), "The cart is empty."), (Silent(), "Silent.")] as [(any Error, String)] {
            let stream = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: failure) }
            do {
                for try await _ in stream {}
            } catch {
                #expect(HTTPError(.rejected(error), request: "GET /a").localizedDescription == text)
            }
        }
    }

    @Test("ends with one full stop")
    func fullStops() {
        let inner = HTTPError(.status(400), request: "POST /token")
        let texts = [
            "\(HTTPError(.transport(inner), request: "GET /a"))", "\(AuthenticationError.refreshFailed(inner))",
            "\(RequestBody.Fault.encoding(path: "a", reason: "It can't be."))",
            "\(RequestBody.Fault.file("f", reason: "gone."))",
            "\(HTTPError.DecodingFault(path: "a", reason: "No such key."))",
            "\(ServiceConfiguration.ReadingFault.malformed(key: "a", reason: "\(ServiceRequest.Fault.time("x"))"))",
            "\(ServiceConfiguration.ReadingFault.unreadable("f", reason: "gone."))",
        ]
        #expect(texts.filter { !$0.hasSuffix(".") || $0.contains("..") } == [])
    }

    @Test(
        "an unreplaced variable in a base URL is named as unset",
        arguments: ["$BASE_URL", "$(BASE_URL)", "${BASE_URL}"])
    func variable(text: String) {
        let json = Data(#"{"baseURL": "\#(text)"}"#.utf8)
        #expect(throws: ServiceConfiguration.ReadingFault.variableNotSet("BASE_URL", key: "baseURL")) {
            try ServiceConfiguration(json: json)
        }
    }
}
