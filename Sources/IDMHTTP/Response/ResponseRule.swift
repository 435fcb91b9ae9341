public import Foundation

/// Decides whether a response is a success or a failure.
///
/// Rules are applied in their order. The first that decides wins; if none does, the statuses 200 to 299 are successes,
/// and all others are failures.
///
/// A response of ``HTTPService/open(_:)`` is first judged without its body. If it is a failure, its body is read up to
/// the limit and the rules are applied again.
///
/// ```swift
/// let rules: [ResponseRule] = [
///     .envelope(Envelope.self) { $0.code == 0 ? nil : APIFailure(code: $0.code) },
///     .failureBody(APIFailure.self),
/// ]
/// ```
public struct ResponseRule: Sendable {
    /// The decision of a rule.
    public enum Verdict: Sendable {
        /// It is a success, whatever the rules behind this one would say.
        case success
        /// It is a failure.
        case failure(HTTPError.Reason)
        /// The next rule is asked.
        case undecided

        /// It is a failure of the API's own.
        public static func rejected(_ failure: any Error) -> Verdict { .failure(.rejected(failure)) }
    }

    private let judge: @Sendable (ServiceResponse) -> Verdict

    /// Makes a rule. The closure is called away from the caller's actor: once for each response, or twice if the body is
    /// read later.
    public init(_ judge: @escaping @Sendable (ServiceResponse) -> Verdict) {
        self.judge = judge
    }

    /// Returns the decision about a response.
    public func verdict(on response: ServiceResponse) -> Verdict {
        judge(response)
    }

    /// A status within these is a success, whatever is in the body.
    public static func accept(_ statuses: some Sequence<Int>) -> ResponseRule {
        let statuses = Set(statuses)
        return ResponseRule { statuses.contains($0.status) ? .success : .undecided }
    }

    /// A status outside of these is a failure.
    public static func status(in statuses: some RangeExpression<Int> & Sendable) -> ResponseRule {
        ResponseRule { statuses.contains($0.status) ? .undecided : .failure(.status($0.status)) }
    }

    /// Decodes the API's own failure from the body of a response whose status isn't from 200 to 299, or from a key path
    /// in it: `error.details`. If the body can't be decoded, the next rule decides, and in the end the status.
    public static func failureBody<Failure: Error & Decodable & Sendable>(
        _ type: Failure.Type, at keyPath: String? = nil, decoder: JSONDecoder = JSONDecoder()
    ) -> ResponseRule {
        ResponseRule { response in
            guard !(200..<300).contains(response.status),
                let failure = try? decoder.decode(type, from: response.body, at: keyPath)
            else { return .undecided }
            return .rejected(failure)
        }
    }

    /// Decodes an envelope that says whether the request succeeded, whatever the status. The closure returns the failure
    /// that the envelope contains. For a body without an envelope at the key path, the next rule decides.
    public static func envelope<Envelope: Decodable & Sendable>(
        _ type: Envelope.Type, at keyPath: String? = nil, decoder: JSONDecoder = JSONDecoder(),
        failure: @escaping @Sendable (Envelope) -> (any Error)?
    ) -> ResponseRule {
        ResponseRule { response in
            guard let envelope = try? decoder.decode(type, from: response.body, at: keyPath),
                let failure = failure(envelope)
            else { return .undecided }
            return .rejected(failure)
        }
    }
}

extension [ResponseRule] {
    /// Why a response is a failure. Nil if it is a success.
    func failure(of response: ServiceResponse) -> HTTPError.Reason? {
        for rule in self {
            switch rule.verdict(on: response) {
            case .success: return nil
            case .failure(let reason): return reason
            case .undecided: continue
            }
        }
        return (200..<300).contains(response.status) ? nil : .status(response.status)
    }
}
