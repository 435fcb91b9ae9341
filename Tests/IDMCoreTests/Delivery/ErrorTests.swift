import Foundation
import TestSupport
import Testing

@testable import IDMCore

@Suite("Errors", .timeLimit(.ample))
struct ErrorTests {
    private struct Refused: Error, Equatable, LocalizedError {
        let code: Int
        var errorDescription: String? { "The server said no." }
    }

    private struct Sync: WrappingError {
        let underlyingError: (any Error)?
    }

    /// A class can wrap itself.
    private final class Endless: WrappingError {
        var underlyingError: (any Error)? { self }
    }

    @Test(
        "failure(as:) finds a type at any depth of wrapping errors",
        arguments: [
            (Refused(code: 1), 1), (IntegrationError.model(Refused(code: 2)), 2),
            (Sync(underlyingError: IntegrationError.model(Refused(code: 3))), 3), (Sync(underlyingError: nil), nil),
            (IntegrationError.cancelled(.ignored), nil), (Trouble.first, nil), (Endless(), nil),
        ] as [(any Error, Int?)])
    func failureAs(error: any Error, code: Int?) {
        let outcome = IntegrationOutcome<Int>.failure(error)

        #expect([error.failure(as: Refused.self)?.code, outcome.failure(as: Refused.self)?.code] == [code, code])
    }

    @Test("Every public error has a sentence for the user of an app")
    func localizedDescriptions() {
        let errors: [any Error] =
            [
                DataProviderError.noAnswer, DataProviderError.timedOut(after: .seconds(1)),
                IntegrationError.model(Trouble.first),
            ]
            + CancelReason.allCases.map { IntegrationError.cancelled($0) }

        for error in errors {
            let sentence = error.localizedDescription
            let isReadable = sentence.hasSuffix(".") && sentence.contains(" ") && !sentence.contains("error")
            #expect(isReadable && sentence == (error as? any LocalizedError)?.errorDescription, "\(sentence)")
            #expect(!"\(error)".contains("cancelled: cancelled"))
        }
        #expect(IntegrationError.model(Refused(code: 1)).localizedDescription == "The server said no.")
    }
}
