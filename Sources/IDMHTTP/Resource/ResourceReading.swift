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

/// The policy for elements of an array that can't be read.
public struct InvalidElementPolicy: Sendable {
    let skips: Bool
    let report: @Sendable (any Error) -> Void

    /// The array can't be read either. The error names the element.
    public static let fail = InvalidElementPolicy(skips: false, report: { _ in })
    /// The element is left out.
    public static let skip = InvalidElementPolicy(skips: true, report: { _ in })

    /// Leaves the element out and reports its error: once for each, in their order, on the thread that reads the body.
    public static func skip(_ report: @escaping @Sendable (any Error) -> Void) -> InvalidElementPolicy {
        InvalidElementPolicy(skips: true, report: report)
    }
}
