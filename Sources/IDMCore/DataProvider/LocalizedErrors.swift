// The only file of the module that imports Foundation: `localizedDescription` reads `errorDescription` only from types
// that conform to `LocalizedError`. FoundationEssentials is the smaller import where it exists.
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension IntegrationError: LocalizedError {
    /// A sentence for the user of an app. For a failed model it is the model error's own, if that error has one.
    public var errorDescription: String? {
        switch self {
        case .model(let error):
            (error as? any LocalizedError)?.errorDescription ?? "The data has an unexpected form."
        case .cancelled(.ignored): "The request was not started because another one is running."
        case .cancelled(.superseded): "The request was replaced by a newer one."
        case .cancelled(.cancelled), .cancelled(.released): "The request was cancelled."
        }
    }
}

extension DataProviderError: LocalizedError {
    /// A sentence for the user of an app.
    public var errorDescription: String? {
        switch self {
        case .noAnswer: "There was no answer."
        case .timedOut: "The answer took too long. Please try again."
        }
    }
}
