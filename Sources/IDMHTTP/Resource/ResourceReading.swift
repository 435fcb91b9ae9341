public import Foundation

/// The conversion of a body into a value.
public protocol ResourceReading<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// Makes the value. Called once for each response, away from the caller's actor. What it throws becomes the cause
    /// of an ``HTTPError`` with ``HTTPError/Reason/decoding(_:)``.
    func value(from body: Data) throws -> Value
}

extension ResourceReading {
    /// Makes the value, or an error that says where and why it can't be made.
    func read(
        _ body: Data, name: String, response: ServiceResponse?, redacted redaction: ServiceRedaction
    ) throws -> Value {
        do {
            return try value(from: body)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let fault = HTTPError.DecodingFault(
                error, in: body, contentType: response?.headers[.contentType], redacted: redaction)
            throw HTTPError(.decoding(fault), request: name, response: response)
        }
    }
}
